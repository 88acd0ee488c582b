"""The packed engine finds what fairseq's beam search does, with the same scores, whatever the model."""

import copy
import math
from argparse import Namespace

import pytest
import torch
from fairseq.models.transformer import TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture

from tests.conftest import toy_options
from tests.models import test_frozen_vocabulary as frozen
from tests.support.decoding import (
    ARCHITECTURES,
    EOS,
    FIRST_WORD,
    OF_MATRICES,
    PAD,
    SEAMS,
    SIZES,
    SmallTask,
    assert_found_by_fairseq,
    assert_same,
    build,
    engine_of,
    found_by_fairseq,
    kernels_of_vocabulary,
    lengths,
    made_sentences,
    padded,
    plain,
    randomise,
)
from tests.support.rounding import TIMES, assert_as_near
from zsnmt.decoding import beam_search, pytorch_engine
from zsnmt.decoding.options import FLOAT16, INT8
from zsnmt.decoding.pytorch_engine import PyTorchEngine, why_not_packed
from zsnmt.decoding.search import Search, Sentence
from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.refusals import check_exportable
from zsnmt.models.zs_transformer import ZeroShotTransformer

pytestmark = pytest.mark.usefixtures("float64_attention")
DICTIONARY = SmallTask().target_dictionary

# Models


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("beam", [1, 2, 4, 5])
def test_every_architecture_finds_what_fairseq_does(architecture, beam):
    found = assert_found_by_fairseq(build(architecture), made_sentences(24), plain(beam))
    assert len(lengths(found)) >= min(beam + 1, 3)


@pytest.mark.parametrize("seams", SEAMS.values(), ids=SEAMS)
def test_every_seam_finds_what_fairseq_does(seams):
    seed = 1 if "encoder_embed_dim" in seams else 2  # for more than two lengths
    found = assert_found_by_fairseq(build(seed=seed, **seams), made_sentences(24), plain())
    assert len(lengths(found)) >= 3


def test_a_language_whose_tag_is_in_the_source_begins_with_the_end_of_sentence():
    tagged = [Sentence([sentence.start, *sentence.source], EOS) for sentence in made_sentences(24)]
    found = assert_found_by_fairseq(build(decoder_language_embedding="none", seed=1), tagged, plain())
    assert len(lengths(found)) >= 3


@pytest.mark.parametrize(
    "options", [dict(), dict(adapter_dim=3), dict(adapter_dim=3, normalization="post")], ids=str
)
def test_a_vocabulary_that_grew_is_written_as_far_as_each_language_knew_it(options):
    seed = 2 if options.get("normalization") else 0  # that write new words
    model = randomise(frozen.build(3, **options), seed).double()
    assert why_not_packed(model) is None
    task, given = (
        frozen.GrownTask(3),
        made_sentences(30, frozen.THIRD - FIRST_WORD, list(frozen.TAGS.values())),
    )
    found = PyTorchEngine(model, task.target_dictionary, task.langs, plain()).translate_batch(given)
    assert_same(found, found_by_fairseq(model, given, plain(), task.target_dictionary, task.langs))
    sizes = [
        frozen.THIRD if each.start == 38 else frozen.SECOND if each.start == 31 else frozen.OLD
        for each in given
    ]
    written = [max(token for each in best_first for token in each.tokens) for best_first in found]
    assert all(token < size for token, size in zip(written, sizes)) and max(written) >= frozen.SECOND


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_scores_are_as_near_the_exact_ones_as_the_models_own_probabilities(architecture, dtype):
    """In fewer bits close candidates change places: what is found is compared with probabilities of the
    model, not of a search.
    """
    model, given = build(architecture, dtype=dtype), made_sentences(12)
    found = engine_of(model).translate_batch(given)
    stock, exact = (sum(probabilities(each, given, found), []) for each in (model, model.double()))
    scores = torch.tensor([each.score for of_sentence in found for each in of_sentence], dtype=dtype)
    assert_as_near(scores, torch.tensor(stock, dtype=dtype), torch.tensor(exact, dtype=torch.float64))


@pytest.mark.parametrize("seams", SEAMS.values(), ids=SEAMS)
def test_a_search_in_float16_is_that_of_the_model_in_float16(monkeypatch, seams):
    monkeypatch.setattr(pytorch_engine, "check_precision", lambda precision, device: precision)  # no GPU
    given, model = made_sentences(12), build(dtype=torch.float32, **seams)
    chosen = PyTorchEngine(model, DICTIONARY, SmallTask().langs, plain(), precision=FLOAT16)
    assert chosen.signature == "pytorch float16" and {each.dtype for each in model.parameters()} == {
        torch.half
    }
    assert chosen.translate_batch(given) == engine_of(build(dtype=torch.float16, **seams)).translate_batch(
        given
    )


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_in_float32_lists_are_fairseqs_but_where_rounding_decides(architecture):
    """It decides between candidates that are equal to six digits, once in some thousand steps."""
    model, given = build(architecture, dtype=torch.float32), made_sentences(48)
    found, expected = (
        engine_of(model).translate_batch(given),
        found_by_fairseq(model, given, plain(), DICTIONARY),
    )
    alike = [
        [each.tokens for each in one] == [each.tokens for each in other]
        for one, other in zip(found, expected, strict=True)
    ]
    assert sum(alike) >= 0.9 * len(alike)


def probabilities(model, given, found) -> list[list[float]]:
    """Of each hypothesis the mean log-probability of its tokens, in one pass of the model over the whole
    of it.
    """
    means = []
    for sentence, of_sentence in zip(given, found):
        prefixes = padded([[sentence.start, *each.tokens[:-1]] for each in of_sentence], left=False)
        sources = torch.tensor([sentence.source] * len(of_sentence))
        with torch.no_grad():
            output = model(sources, torch.full((len(of_sentence),), len(sentence.source)), prefixes)
            scores = model.get_normalized_probs(output, log_probs=True)
        means.append(
            [
                scores[row, range(len(each.tokens)), each.tokens].mean().item()
                for row, each in enumerate(of_sentence)
            ]
        )
    return means


def test_each_score_is_the_models_own_probability_of_the_hypothesis():
    model, given = build(), made_sentences(12)
    found = engine_of(model).translate_batch(given)
    for of_sentence, own in zip(found, probabilities(model, given, found)):
        assert [each.score for each in of_sentence] == pytest.approx(own, rel=1e-6)  # summed in float32
        assert own == sorted(own, reverse=True)
        assert all(each.tokens[-1] == EOS and len(each.tokens) > 1 for each in of_sentence)
        assert not {PAD, 4, 5, 6, 7}.intersection(*(each.tokens for each in of_sentence))


# Batches


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [dict(), dict(relative_attention_distance="2"), dict(decoder_language_embedding="add")],
    ids=str,
)
def test_companions_and_order_change_nothing(options):
    """Many sentences, that end at different steps: those left move into the places of the others."""
    engine, given = engine_of(build(**options)), made_sentences(60)
    together = engine.translate_batch(given)
    assert len({max(len(each.tokens) for each in best_first) for best_first in together}) >= 4
    assert_same([engine.translate_batch([sentence])[0] for sentence in given], together)
    assert_same(engine.translate_batch(given[::-1])[::-1], together)
    in_batches = engine.translate([given[:7], given[7:8], given[8:]])
    assert_same([best_first for batch in in_batches for best_first in batch], together)


@pytest.mark.slow
def test_in_float32_the_batch_decides_only_between_candidates_that_rounding_makes_equal(monkeypatch):
    """A model to which all translations are nearly as good: some sentences have candidates that are nearer to
    each other than twice the error of a score, and all others have one translation in every batch.
    """
    model, given, search = build(ends=0, dtype=torch.float32), made_sentences(60), plain(limit=8)
    with torch.no_grad():
        for weight in model.decoder.layer_norm.parameters():
            weight *= 0.05
    engine, gaps = engine_of(model, search), []
    best_candidates = beam_search.best_candidates

    def watched(log_probabilities, scores, number):
        ranked = (log_probabilities + scores[..., None]).flatten(1).topk(number + 1).values
        between = (ranked[:, :-1] - ranked[:, 1:])[ranked[:, 1:] > -math.inf]
        gaps.extend(between.tolist())
        return best_candidates(log_probabilities, scores, number)

    alone, nearest = [], []
    with monkeypatch.context() as watching:
        watching.setattr(beam_search, "best_candidates", watched)
        for sentence in given:
            gaps.clear()
            alone += engine.translate_batch([sentence])
            nearest.append(min(gaps))
    exact = probabilities(copy.deepcopy(model).double(), given, alone)
    error = TIMES * max(
        abs(each.score - own) * len(each.tokens)
        for of_sentence, of_model in zip(alone, exact)
        for each, own in zip(of_sentence, of_model)
    )
    clear = [place for place in range(len(given)) if nearest[place] > 2 * error]
    assert len(given) / 4 < len(clear) < len(given)
    for size in (2, 7, 60):
        batches = engine.translate([given[place : place + size] for place in range(0, len(given), size)])
        found = [best_first for batch in batches for best_first in batch]
        for place in clear:
            assert [each.tokens for each in found[place]] == [each.tokens for each in alone[place]]


def test_sentences_that_end_leave_gaps_which_others_fill(monkeypatch):
    seen, numbers = [], []

    def without(done, number):
        numbers.append(number)
        seen.append(of_rows(done, number))
        return seen[-1]

    of_rows = beam_search.drop_rows
    monkeypatch.setattr(beam_search, "drop_rows", without)
    assert_found_by_fairseq(build(), made_sentences(60), plain())
    assert len(seen) >= 4 and any(len(holes) > 1 for _, holes, _ in seen)
    assert any(
        len(holes) < number - len(order) for number, (order, holes, _) in zip(numbers, seen)
    )  # one at the end went, too


@pytest.mark.slow
def test_each_sentence_has_a_limit_of_its_own():
    """That of fairseq is the longest sentence's."""
    search = Search(4, max_len_a=0.5, max_len_b=1)
    model, given = build(ends=1), made_sentences(40)
    found = engine_of(model, search).translate_batch(given)
    alone = [found_by_fairseq(model, [sentence], search, DICTIONARY)[0] for sentence in given]
    assert_same(found, alone)
    for sentence, best_first in zip(given, found):
        assert max(len(each.tokens) for each in best_first) <= len(sentence.source) // 2 + 2
    together = found_by_fairseq(model, given, search, DICTIONARY)
    assert [len(each[0].tokens) for each in together] != [len(each[0].tokens) for each in alone]


def test_equal_sources_are_encoded_once(monkeypatch):
    engine, read = engine_of(build()), []
    encode = engine.encoder
    monkeypatch.setattr(
        engine, "encoder", lambda src_tokens: (read.append(src_tokens), encode(src_tokens))[1]
    )
    sources = [sentence.source for sentence in made_sentences(5)]
    given = [Sentence(source, tag) for tag in (5, 7, 4) for source in sources]
    found = engine.translate_batch(given)
    assert [len(rows) for rows in read] == [5] and {tuple(row[row != PAD].tolist()) for row in read[0]} == {
        *map(tuple, sources)
    }
    assert_same(found, found_by_fairseq(build(), given, plain(), DICTIONARY))
    assert any(found[row][0].tokens != found[row + 5][0].tokens for row in range(5))


# Frozen weights


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [dict(), dict(normalization="post"), dict(no_decoder_final_norm=True)], ids=str
)
def test_frozen_weights_change_no_bit_and_the_vocabulary_is_one_product_a_step(options):
    words, given, found = 97, made_sentences(6, 97), []
    for frozen_weights in (False, True):
        engine = engine_of(
            build(words=words, ends=0, dtype=torch.float32, **options).requires_grad_(not frozen_weights),
            plain(limit=3),
            words,
        )
        kernels = kernels_of_vocabulary(
            words + FIRST_WORD, lambda: found.append(engine.translate_batch(given))
        )
        assert len(kernels) == 4 and {*kernels} <= OF_MATRICES
    assert found[0] == found[1]


# int8


def test_int8_has_nearly_the_scores_of_float32():
    model, given = build(dtype=torch.float32), made_sentences(24)
    exact = engine_of(model).translate_batch(given)
    rounded = engine_of(model, precision=INT8).translate_batch(given)
    assert [len(best_first) for best_first in rounded] == [len(best_first) for best_first in exact]
    best = torch.tensor([[one[0].score, two[0].score] for one, two in zip(exact, rounded)])
    assert 0 < (best[:, 0] - best[:, 1]).pow(2).mean().sqrt() < 0.1 * best[:, 0].std()
    assert sum(one[0].tokens == two[0].tokens for one, two in zip(exact, rounded)) > len(given) / 2


# What is not packed

NO_LANGUAGE = dict(decoder_language_embedding="none")
NOT_PACKED = {
    "an adaptive softmax": dict(adaptive_softmax_cutoff="9,20", share_all_embeddings=False),
    "projections around its layers": dict(
        decoder_input_dim=6, decoder_output_dim=6, share_all_embeddings=False
    ),
    "attention across encoder and decoder": dict(cross_self_attention=True, **NO_LANGUAGE),
    "scales of the layers": dict(scale_fc=True),
    "quantisation noise": dict(quant_noise_pq=0.1, quant_noise_pq_block_size=2),
}


@pytest.mark.parametrize("reason", NOT_PACKED)
def test_a_model_with_parts_that_packing_does_not_know_is_named(reason):
    args = toy_options(**{**SIZES, **NOT_PACKED[reason]})
    assert why_not_packed(ZeroShotTransformer.build_model(args, SmallTask())) == f"it has {reason}"


MORE_KINDS = [
    dict(scale_heads=True),
    dict(scale_attn=True),
    dict(scale_resids=True),
    dict(no_cross_attention=True, **NO_LANGUAGE),
]


@pytest.mark.parametrize("options", MORE_KINDS, ids=str)
def test_each_of_their_kinds_is_named(options):
    assert why_not_packed(ZeroShotTransformer.build_model(toy_options(**options), SmallTask())) is not None


def test_a_bias_of_the_decoder_that_is_no_relative_key_is_named():
    model = build()
    assert why_not_packed(model) is None
    model.decoder.layers[1].self_attn.logit_terms.append(torch.nn.Identity())
    assert why_not_packed(model) == "it has a bias of the decoder's attention"


class Variant(torch.nn.Module):
    """A part that nobody has packed."""

    def forward(self, x):
        return 2 * x


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_a_new_part_is_named_wherever_it_is_so_that_it_is_never_passed_over(stack):
    model = build()
    getattr(model, stack).layers[1].scale = Variant()
    assert why_not_packed(model) == f"it has the part {stack}.layers.1.scale (Variant)"
    with pytest.raises(InputError, match=rf"the model's part {stack}\.layers\.1\.scale \(Variant\)"):
        check_exportable(model)


def test_models_of_others_are_named():
    args = Namespace(**vars(toy_options()))
    base_architecture(args)
    assert why_not_packed(TransformerModel.build_model(args, SmallTask())) == "it is not a model of zsnmt"
    assert why_not_packed(torch.nn.Linear(2, 3)) == "it is not a model of zsnmt"
