"""fairseq's search by a method, against the packed engine and fairseq's own suppression of symbols."""

import math
from collections.abc import Sequence
from itertools import product

import pytest
import torch
from fairseq.models.transformer import TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture

from tests.conftest import LANGUAGES, toy_options
from tests.support.bundles import DICTIONARY, bundles_of, masks
from tests.support.decoding import (
    EOS,
    SEAMS,
    SIZES,
    TAGS,
    SmallTask,
    assert_same,
    build,
    lengths,
    make_generator,
    randomise,
)
from tests.support.decoding import engine_of as packed_engine_of
from zsnmt.decoding.encode_once import EncodeOnce
from zsnmt.decoding.fairseq_engine import FairseqEngine
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.engine import MethodEngine
from zsnmt.decoding.methods.kinds import Contrast, Ensemble
from zsnmt.decoding.methods.settings import Mask, Method
from zsnmt.decoding.pytorch_engine import why_not_packed
from zsnmt.decoding.search import Search, Sentence

pytestmark = pytest.mark.usefixtures("float64_attention")
SEARCH = Search(4, max_len_a=0.8, max_len_b=5)  # limits that outputs reach, and each has its own
SEVERAL = {
    "vote": Ensemble(),
    "average": Ensemble(by="average"),
    "contrast": Contrast(),
    "one source": None,
}
MASKS = {
    "no mask": (None, None),
    "hard": (Mask(), masks(-math.inf)),
    "soft": (Mask(penalty=1), masks(-1)),
    "renormalising": (Mask(renormalise=True), masks(-math.inf)),
}


def engine_of(model, search: Search = SEARCH) -> FairseqEngine:
    generator = make_generator(model, search, DICTIONARY)
    generator.model = EncodeOnce([model])  # as runs are opened
    return FairseqEngine(model, generator)


def by_fairseq(model, method: Method, penalties=None, search: Search = SEARCH) -> MethodEngine:
    return MethodEngine(engine_of(model, search), method, penalties)


def given_to(several: Ensemble | Contrast | None, number: int = 24) -> list[Bundle]:
    """Bundles for a method: of mixed languages and lengths, with another number of sources for the last."""
    if several is None:
        return bundles_of(number, sources=1)
    weights = (0.3, 0.5) if isinstance(several, Contrast) else ()
    return [*bundles_of(number, weights=weights), *bundles_of(4, sources=2, weights=weights)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, of_mask, seam",
    [
        *((*case, None) for case in product(SEVERAL, MASKS) if case != ("contrast", "renormalising")),
        *(("average", "soft", seam) for seam in ("language none", "post-norm", "untied")),
    ],
)
def test_it_finds_what_the_packed_engine_finds(name, of_mask, seam):
    """N-best lists and scores of all; and what it finds is not what it finds without the method."""
    model, (mask, penalties) = build(seed=1, ends=1.5, **SEAMS.get(seam, {})), MASKS[of_mask]
    method, bundles = Method(SEVERAL[name], mask), given_to(SEVERAL[name])
    found = by_fairseq(model, method, penalties).translate_batch(bundles)
    assert_same(
        found, MethodEngine(packed_engine_of(model, SEARCH), method, penalties).translate_batch(bundles)
    )
    if method != Method():
        alone = engine_of(model).translate_batch([bundle.sentences[0] for bundle in bundles])
        assert sum(one[0].tokens != other[0].tokens for one, other in zip(found, alone)) >= 3


def into_others(sentence: Sentence) -> tuple[Sentence, ...]:
    """It and the same into two other languages."""
    return tuple(sentence._replace(start=TAGS[(sentence.start + more) % len(TAGS)]) for more in range(3))


@pytest.mark.parametrize("beam", [1, 3])
def test_a_contrast_of_tags_is_one_of_the_first_tokens(beam):
    model, search = build(seed=3), Search(beam, max_len_a=1, max_len_b=4)
    bundles = [
        bundle._replace(sentences=into_others(bundle.sentences[0]), weights=(0.2, 0.3))
        for bundle in bundles_of(16, sources=1)
    ]
    method = Method(Contrast())
    expected = MethodEngine(packed_engine_of(model, search), method).translate_batch(bundles)
    assert_same(by_fairseq(model, method, search=search).translate_batch(bundles), expected)


@pytest.mark.parametrize("name", SEVERAL)
def test_companions_in_a_batch_change_nothing(name):
    engine = by_fairseq(build(), Method(SEVERAL[name], Mask()), masks(-math.inf))
    bundles = given_to(SEVERAL[name], 12)
    together = engine.translate_batch(bundles)
    assert_same(engine.translate_batch(bundles[::-1])[::-1], together)
    assert_same([engine.translate_batch([bundle])[0] for bundle in bundles], together)
    assert len(lengths(together)) > 3


def test_a_penalty_of_0_is_fairseqs_own_search_bit_for_bit():
    """The generator that the method searches with is a copy: the engine still translates directly."""
    model, bundles, search = build(), bundles_of(16, sources=1), Search(3, max_len_a=0, max_len_b=9)
    engine = engine_of(model, search)
    found = MethodEngine(engine, Method(mask=Mask(penalty=0)), masks(0)).translate_batch(bundles)
    assert found == engine.translate_batch([bundle.sentences[0] for bundle in bundles])


# Models that cannot be packed


def with_scales():
    return build(scale_fc=True)


def stock_transformer() -> TransformerModel:
    args = toy_options(**SIZES, share_all_embeddings=True)
    base_architecture(args)
    return randomise(TransformerModel.build_model(args, SmallTask())).double()


@pytest.mark.parametrize("make", [with_scales, stock_transformer])
def test_a_model_that_cannot_be_packed_is_searched_with_a_mask(make):
    """As by fairseq with the symbols suppressed that the mask forbids: one batch there for each language."""
    model, bundles, penalties = make(), bundles_of(24, sources=1), masks(-math.inf)
    search = Search(4, max_len_a=0, max_len_b=9)
    found = by_fairseq(model, Method(mask=Mask()), penalties, search).translate_batch(bundles)
    assert why_not_packed(model)
    for language in LANGUAGES:
        places = [place for place, bundle in enumerate(bundles) if bundle.target == language]
        expected = suppressing(model, [bundles[place] for place in places], penalties[language], search)
        assert places
        assert_same([found[place] for place in places], expected)


def suppressing(model, bundles: Sequence[Bundle], penalties, search: Search):
    engine = engine_of(model, search)
    forbidden = penalties.isinf().index_fill(0, torch.tensor(TAGS), True)
    engine.generator.token_indices_to_suppress = forbidden.nonzero().flatten()
    return engine.translate_batch([bundle.sentences[0] for bundle in bundles])


@pytest.mark.parametrize("several", [Ensemble(), Ensemble(by="average"), Contrast()], ids=str)
def test_several_sources_of_one_that_cannot_be_packed_say_what_one_says(several):
    model, bundles = with_scales(), bundles_of(12, sources=1)
    weights = (0.0,) * isinstance(several, Contrast)
    twice = [bundle._replace(sentences=bundle.sentences * 2, weights=weights) for bundle in bundles]
    search = Search(4, max_len_a=0, max_len_b=9)
    found = by_fairseq(model, Method(several), search=search).translate_batch(twice)
    expected = engine_of(model, search).translate_batch([bundle.sentences[0] for bundle in bundles])
    assert [[each.tokens for each in of] for of in found] == [[each.tokens for each in of] for of in expected]
    scores = [each.score for of in found for each in of]
    assert scores == pytest.approx([each.score for of in expected for each in of], rel=1e-5)


# Few symbols


@pytest.mark.parametrize(
    "search", [Search(4, max_len_a=0, max_len_b=2), Search(4, max_len_a=0.3, max_len_b=1)], ids=str
)
def test_fewer_hypotheses_than_the_beam_are_no_fault(search):
    """A mask that leaves one word: as many hypotheses as each limit allows, where four are searched for."""
    model, bundles = build(), bundles_of(12, sources=1)
    word = DICTIONARY.index(DICTIONARY.symbols[-1])
    only = masks(0)["aa"].fill_(-math.inf).index_fill(0, torch.tensor([EOS, word]), 0)
    engine = by_fairseq(model, Method(mask=Mask()), dict.fromkeys(LANGUAGES, only), search)
    found = engine.translate_batch(bundles)
    limits = [search.limit(len(bundle.sentences[0].source), 99) for bundle in bundles]
    assert len({*limits}) == (3 if search.max_len_a else 1) and max(limits) < search.beam
    expected = [{(word,) * length + (EOS,) for length in range(1, limit + 1)} for limit in limits]
    assert [{tuple(each.tokens) for each in of} for of in found] == expected
