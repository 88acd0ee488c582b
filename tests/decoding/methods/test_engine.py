"""Searches with several sentences for one output, against the papers' algorithms step by step and fairseq's
search with the same probabilities.
"""

import math
from collections.abc import Callable, Sequence

import pytest
import torch
from fairseq.sequence_generator import EnsembleModel, SequenceGenerator

from tests.conftest import LANGUAGES
from tests.support.bundles import DICTIONARY, bundles_of, masks
from tests.support.decoding import (
    EOS,
    PAD,
    TAGS,
    assert_same,
    build,
    engine_of,
    found_by_fairseq,
    lengths,
    made_sentences,
    padded,
    plain,
)
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.combination import drawing
from zsnmt.decoding.methods.engine import MethodEngine
from zsnmt.decoding.methods.kinds import Contrast, Ensemble, Sample
from zsnmt.decoding.methods.settings import Mask, Method
from zsnmt.decoding.options import INT8
from zsnmt.decoding.search import Hypothesis, Search, Sentence, never_written
from zsnmt.models.zs_transformer import ZeroShotTransformer

pytestmark = pytest.mark.usefixtures("float64_attention")
VOTE, AVERAGE, CONTRAST = Method(Ensemble()), Method(Ensemble(by="average")), Method(Contrast())
WEIGHTS = (0.3, 0.5)
SEVERAL = {"vote": VOTE, "average": AVERAGE, "contrast": CONTRAST}


def found(model, bundles: Sequence[Bundle], method: Method, search: Search = plain(), **others):
    return MethodEngine(engine_of(model, search), method, **others).translate_batch(bundles)


# Samples


def test_a_sample_of_one_symbol_is_the_greedy_search():
    model, search = build(), plain(beam=1)
    bundles = bundles_of(6, sources=1)
    greedy = found(model, bundles, Method(mask=Mask()), search)
    assert_same(found(model, bundles, Method(Sample(symbols=1)), search), greedy)


def test_a_sample_is_the_same_each_time_and_another_by_another_seed():
    model, search, bundles = build(), plain(beam=1), bundles_of(6, sources=1)
    first, again, other = (
        [each.tokens for (each,) in found(model, bundles, Method(Sample(seed=seed)), search)]
        for seed in (1, 1, 2)
    )
    assert first == again and first != other


def test_symbols_are_drawn_by_their_probabilities_among_the_most_probable():
    probabilities = torch.tensor([0.4, 0.05, 0.3, 0.15, 0.1])
    draw = drawing(Sample(symbols=3), [Sentence([1], 0)])
    views = [probabilities.log().expand(20_000, 1, 5)]
    scores, parents, symbols = draw(views, torch.full((20_000, 1), -2.0), 2)
    drawn = symbols[:, 0]
    shares = torch.bincount(drawn, minlength=5) / 20_000
    assert torch.allclose(shares, torch.tensor([0.4, 0, 0.3, 0.15, 0]) / 0.85, atol=0.015)
    assert not parents.any() and (symbols[:, 0] != symbols[:, 1]).all()
    assert torch.allclose(scores, probabilities.log()[symbols] - 2.0)  # the model's, without noise


def test_batches_of_other_sentences_do_not_share_their_draws():
    views = [torch.full((50, 1, 8), 1 / 8).log()]
    one, again, other = (
        drawing(Sample(symbols=8), [Sentence([word], 0)])(views, torch.zeros(50, 1), 2).tokens[:, 0]
        for word in (4, 4, 5)
    )
    assert torch.equal(one, again) and not torch.equal(one, other)


# The papers' algorithms, step by step


def log_probabilities(model, sentence: Sentence, prefix: Sequence[int]) -> list[float]:
    """Of each symbol after a prefix, by one pass of the model over the whole of it."""
    source, before = torch.tensor([sentence.source]), torch.tensor([[sentence.start, *prefix]])
    with torch.no_grad():
        logits, _ = model(source, torch.tensor([len(sentence.source)]), before)
    return logits[0, -1].log_softmax(dim=-1).tolist()


def naive_search(model, bundle: Bundle, search: Search, limit: int, best: Callable) -> list[Hypothesis]:
    """A beam search over dictionaries from hypotheses to log-probabilities; `best` makes one of those after
    each sentence.
    """
    beam, finished = {(): 0.0}, []
    for step in range(limit + 1):
        extended: list[dict[tuple, float]] = [{} for _ in bundle.sentences]
        for prefix, score in beam.items():
            for hypotheses, sentence in zip(extended, bundle.sentences):
                for symbol, value in enumerate(log_probabilities(model, sentence, prefix)):
                    allowed = symbol == EOS if step == limit else symbol != EOS or step > 0
                    if allowed and symbol not in (PAD, *TAGS):
                        hypotheses[*prefix, symbol] = score + value
        ranked = sorted(best(extended, 2 * search.beam).items(), key=lambda pair: -pair[1])[: 2 * search.beam]
        for hypothesis, score in ranked[: search.beam]:
            if hypothesis[-1] == EOS and len(finished) < search.beam:
                finished.append(Hypothesis([*hypothesis], search.score(score, len(hypothesis))))
        beam = dict([pair for pair in ranked if pair[0][-1] != EOS][: search.beam])
        if len(finished) == search.beam:
            break
    return sorted(finished, key=lambda hypothesis: -hypothesis.score)


def by_vote(extended: list[dict[tuple, float]], number: int) -> dict[tuple, float]:
    """Each component nominates its best; probabilities add up over those that nominate."""
    votes: dict[tuple, float] = {}
    for hypotheses in extended:
        for hypothesis in sorted(hypotheses, key=hypotheses.__getitem__, reverse=True)[:number]:
            votes[hypothesis] = votes.get(hypothesis, 0) + math.exp(hypotheses[hypothesis]) / len(extended)
    return {hypothesis: math.log(vote) for hypothesis, vote in votes.items()}


def by_mean(extended: list[dict[tuple, float]], number: int) -> dict[tuple, float]:
    return {
        hypothesis: math.log(sum(math.exp(of[hypothesis]) for of in extended) / len(extended))
        for hypothesis in extended[0]
    }


def by_difference(extended: list[dict[tuple, float]], number: int) -> dict[tuple, float]:
    """log(p - 0.3 p_1 - 0.5 p_2); a prefix that nothing is left of goes on without."""
    first, *others = extended
    left = {
        hypothesis: math.exp(value) - sum(w * math.exp(of[hypothesis]) for w, of in zip(WEIGHTS, others))
        for hypothesis, value in first.items()
    }
    alive = {hypothesis[:-1] for hypothesis, value in left.items() if value > 0}
    found = {hypothesis: math.log(value) for hypothesis, value in left.items() if value > 0}
    return found | {hypothesis: first[hypothesis] for hypothesis in left if hypothesis[:-1] not in alive}


NAIVE = {"vote": by_vote, "average": by_mean, "contrast": by_difference}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("beam", [1, 4])
def test_a_search_is_that_of_the_paper(name, beam):
    model, search, limit = build(), plain(beam, limit=7), 7
    bundles = bundles_of(10, weights=WEIGHTS)
    results = found(model, bundles, SEVERAL[name], search)
    expected = [naive_search(model, bundle, search, limit, NAIVE[name]) for bundle in bundles]
    assert_near(results, expected)
    assert len(lengths(results)) >= 2
    alone = engine_of(model, search).translate_batch([bundle.sentences[0] for bundle in bundles])
    assert sum(one[0].tokens != other[0].tokens for one, other in zip(results, alone)) >= 3


def assert_near(results, expected) -> None:
    """The same lists, with scores equal but for float32, in which searches add."""
    for of_sentence, others in zip(results, expected, strict=True):
        assert [each.tokens for each in of_sentence] == [each.tokens for each in others]
        assert [each.score for each in of_sentence] == pytest.approx(
            [each.score for each in others], rel=1e-5
        )


# What changes nothing


@pytest.mark.parametrize("name", SEVERAL)
def test_one_source_is_searched_as_by_the_engine_alone_bit_for_bit(name):
    model, bundles = build(dtype=torch.float32), bundles_of(24, sources=1)
    alone = engine_of(model).translate_batch([bundle.sentences[0] for bundle in bundles])
    assert found(model, bundles, SEVERAL[name]) == alone


def test_one_source_in_int8_is_that_of_the_engine_in_int8():
    engine = engine_of(build(dtype=torch.float32), precision=INT8)
    bundles = bundles_of(12, sources=1)
    alone = engine.translate_batch([bundle.sentences[0] for bundle in bundles])
    assert MethodEngine(engine, VOTE).translate_batch(bundles) == alone
    several = MethodEngine(engine, VOTE).translate_batch(bundles_of(12))
    assert several != alone and MethodEngine(engine, VOTE).signature == "pytorch int8"


@pytest.mark.parametrize("name", ["vote", "average"])
@pytest.mark.parametrize("times", [2, 3])
def test_the_same_source_several_times_is_as_one(name, times):
    model, bundles = build(), bundles_of(24, sources=1)
    alone = engine_of(model).translate_batch([bundle.sentences[0] for bundle in bundles])
    same = [bundle._replace(sentences=bundle.sentences * times) for bundle in bundles]
    assert_near(found(model, same, SEVERAL[name]), alone)


def test_a_contrast_of_weight_0_is_none_bit_for_bit():
    model, bundles = build(dtype=torch.float32), bundles_of(24, weights=(0.0, 0.0))
    alone = engine_of(model).translate_batch([bundle.sentences[0] for bundle in bundles])
    assert found(model, bundles, CONTRAST) == alone


def test_a_contrast_with_itself_takes_the_same_from_every_step():
    model, bundles = build(), bundles_of(24, sources=1)
    alone = engine_of(model).translate_batch([bundle.sentences[0] for bundle in bundles])
    same = [bundle._replace(sentences=bundle.sentences * 2, weights=(0.25,)) for bundle in bundles]
    less = [
        [each._replace(score=each.score + math.log(0.75)) for each in of_sentence] for of_sentence in alone
    ]
    assert_near(found(model, same, CONTRAST), less)


def test_contrasts_of_one_source_add_up():
    model, bundles = build(), bundles_of(24, sources=2, weights=(0.4,))
    split = [
        bundle._replace(sentences=(*bundle.sentences, bundle.sentences[1]), weights=(0.3, 0.1))
        for bundle in bundles
    ]
    assert_near(found(model, split, CONTRAST), found(model, bundles, CONTRAST))


def test_a_contrast_that_leaves_nothing_of_a_hypothesis_leaves_it_alone():
    model, bundles = build(), bundles_of(24, sources=1)
    alone = engine_of(model).translate_batch([bundle.sentences[0] for bundle in bundles])
    same = [bundle._replace(sentences=bundle.sentences * 3, weights=(0.7, 0.7)) for bundle in bundles]
    assert_same(found(model, same, CONTRAST), alone)


@pytest.mark.parametrize("name", ["vote", "average"])
def test_the_order_of_sources_is_none(name):
    model, bundles = build(), bundles_of(24)
    turned = [
        bundle._replace(sentences=(bundle.sentences[0], *bundle.sentences[:0:-1])) for bundle in bundles
    ]
    assert_near(found(model, turned, SEVERAL[name]), found(model, bundles, SEVERAL[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVERAL)
def test_companions_in_a_batch_change_nothing(name):
    """Some of the bundles have fewer sources than the others, or other weights."""
    model = build()
    bundles = [*bundles_of(16, weights=WEIGHTS), *bundles_of(8, sources=2, weights=(0.6,))]
    engine = MethodEngine(engine_of(model), SEVERAL[name])
    together = engine.translate_batch(bundles)
    assert_same(engine.translate_batch(bundles[::-1])[::-1], together)
    assert_same([engine.translate_batch([bundle])[0] for bundle in bundles], together)
    assert [*engine.translate([bundles[:5], bundles[5:]])] == [
        engine.translate_batch(bundles[:5]),
        engine.translate_batch(bundles[5:]),
    ]


def test_the_limit_is_that_of_the_first_sentence():
    model, search = build(ends=0), Search(2, max_len_a=1, max_len_b=1)
    results = found(model, bundles_of(16), VOTE, search)
    for bundle, of_sentence in zip(bundles_of(16), results):
        assert max(len(each.tokens) for each in of_sentence) <= len(bundle.sentences[0].source) + 2


# Masks


@pytest.mark.slow
def test_a_mask_is_fairseqs_suppression_of_the_other_pieces():
    """All languages in one batch; fairseq has one list of suppressed symbols, so it has a batch of each."""
    model, bundles, penalties = build(), bundles_of(32, sources=1), masks(-math.inf)
    results = found(model, bundles, Method(mask=Mask()), penalties=penalties)
    for language in LANGUAGES:
        places = [place for place, bundle in enumerate(bundles) if bundle.target == language]
        forbidden = penalties[language].nonzero().flatten().tolist()
        generator = SequenceGenerator(
            EnsembleModel([model]),
            DICTIONARY,
            4,
            max_len_a=0,
            max_len_b=13,
            tokens_to_suppress=tuple(DICTIONARY[symbol] for symbol in (*TAGS, *forbidden)),
        )
        src_tokens = padded([bundles[place].sentences[0].source for place in places], left=True)
        of_language = generator.generate(
            [model],
            {"net_input": dict(src_tokens=src_tokens, src_lengths=src_tokens.ne(PAD).sum(1))},
            bos_token=TAGS[LANGUAGES.index(language)],
        )
        expected = [
            [Hypothesis(each["tokens"].tolist(), each["score"].item()) for each in of_sentence]
            for of_sentence in of_language
        ]
        assert_same([results[place] for place in places], expected)
        written = {token for place in places for each in results[place] for token in each.tokens}
        assert places and not written & {*forbidden}


def renormalising(model: ZeroShotTransformer, forbidden: torch.Tensor) -> ZeroShotTransformer:
    """The model with nothing in the output projection for some symbols: a bias of -inf, which stays -inf in
    the softmax and leaves its share to the others.
    """
    projection = model.decoder.output_projection
    bias = torch.zeros(projection.out_features, dtype=projection.weight.dtype)
    projection.bias = torch.nn.Parameter(bias.masked_fill(forbidden, -math.inf))
    return model


RENORMALISED = Mask(renormalise=True)


@pytest.mark.parametrize("beam", [4, 29])  # more than a language has symbols
@pytest.mark.parametrize("several", [None, Ensemble(), Contrast(language_weight=0.0)], ids=str)
def test_a_mask_that_renormalises_searches_as_if_there_were_no_other_symbols(several, beam):
    """All languages in one batch, against a model for each whose output has a bias of -inf."""
    bundles, penalties = bundles_of(24, sources=2 if several else 1, weights=WEIGHTS[:1]), masks(-math.inf)
    method, search = Method(several, RENORMALISED), plain(beam)
    results = found(build(), bundles, method, search, penalties=penalties)
    for language in LANGUAGES:
        places = [place for place, bundle in enumerate(bundles) if bundle.target == language]
        forbidden = penalties[language].isinf()
        forbidden[torch.tensor(never_written(DICTIONARY, LANGUAGES))] = True
        of_language = [bundles[place] for place in places]
        alone = found(renormalising(build(), forbidden), of_language, Method(several), search)
        assert places
        assert_same([results[place] for place in places], alone)


@pytest.mark.slow
@pytest.mark.parametrize("method", [Method(mask=Mask()), VOTE, CONTRAST], ids=str)
def test_a_penalty_of_0_is_none_and_a_large_one_a_mask(method):
    model, bundles = build(dtype=torch.float32), bundles_of(24, weights=WEIGHTS)
    if method.several is None:
        bundles = [bundle._replace(sentences=bundle.sentences[:1], weights=()) for bundle in bundles]
    without, hard = found(model, bundles, method), found(model, bundles, method, penalties=masks(-math.inf))
    assert found(model, bundles, method, penalties=masks(0.0)) == without
    soft, large = (found(model, bundles, method, penalties=masks(-value)) for value in (1.0, 1e4))
    best = [[each[0].tokens for each in results] for results in (without, soft, hard, large)]
    assert best[2] == best[3] and best[0] != best[1] != best[2] != best[0]


def test_one_bundle_is_translated_as_fairseq_does():
    """The whole of it, from bundles to hypotheses."""
    model, given = build(), made_sentences(24)
    bundles = [Bundle("aa", (sentence,)) for sentence in given]
    assert_same(found(model, bundles, VOTE), found_by_fairseq(model, given, plain(), DICTIONARY))
