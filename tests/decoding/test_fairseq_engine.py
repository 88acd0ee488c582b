"""fairseq's own search as an engine."""

import pytest
from fairseq.models.transformer import TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture

from tests.conftest import LANGUAGES, toy_options
from tests.support.decoding import (
    FIRST_WORD,
    OF_MATRICES,
    SIZES,
    SmallTask,
    assert_same,
    build,
    found_by_fairseq,
    kernels_of_vocabulary,
    lengths,
    made_sentences,
    make_generator,
    randomise,
)
from zsnmt.decoding.fairseq_engine import FairseqEngine
from zsnmt.decoding.pytorch_engine import PyTorchEngine
from zsnmt.decoding.search import Search

pytestmark = pytest.mark.usefixtures("float64_attention")
SEARCH = Search(3, max_len_a=0, max_len_b=9)


def engine_of(model, search: Search = SEARCH, words: int = 23) -> FairseqEngine:
    return FairseqEngine(model, make_generator(model, search, SmallTask(words).target_dictionary))


def stock_transformer() -> TransformerModel:
    args = toy_options(**SIZES, share_all_embeddings=True)
    base_architecture(args)
    return randomise(TransformerModel.build_model(args, SmallTask()))


@pytest.mark.parametrize("make", [build, stock_transformer])
def test_it_finds_what_the_generator_does(make):
    model, given = make(), made_sentences(14)
    found = [*engine_of(model).translate([given[:9], given[9:]])]
    expected = [
        found_by_fairseq(model, batch, SEARCH, SmallTask().target_dictionary)
        for batch in (given[:9], given[9:])
    ]
    assert found == expected and len({*lengths(found[0])}) >= 2


def test_the_packed_engine_finds_the_same():
    model, given = build(), made_sentences(14)
    packed = PyTorchEngine(model, SmallTask().target_dictionary, LANGUAGES, SEARCH)
    assert_same(packed.translate_batch(given), engine_of(model).translate_batch(given))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [dict(), dict(normalization="post"), dict(relative_attention_distance="2")], ids=str
)
def test_frozen_weights_change_nothing_and_the_vocabulary_is_one_product_a_step(options):
    """PyTorch folds rows into a matrix whatever their strides only where the weight requires a gradient;
    the last bits may differ.
    """
    words, given, found = 97, made_sentences(6, 97), []
    for frozen_weights in (False, True):
        engine = engine_of(
            build(words=words, ends=0, **options).requires_grad_(not frozen_weights),
            Search(4, max_len_a=0, max_len_b=3),
            words,
        )
        kernels = kernels_of_vocabulary(
            words + FIRST_WORD, lambda: found.append(engine.translate_batch(given))
        )
        assert len(kernels) == 4 and {*kernels} <= OF_MATRICES
    assert_same(*found)
