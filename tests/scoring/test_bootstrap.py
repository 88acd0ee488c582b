"""Intervals and p-values: sacreBLEU's, from the same draws for every system and direction."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from tests.support.evaluation import sentences, spoilt
from zsnmt.scoring.bootstrap import (
    SAMPLES,
    STEPS,
    draws,
    interval,
    pack,
    paired_test,
    resampled_rates,
    resampled_scores,
    signature,
    unpack,
)

LINES = 40
FLOAT32 = 1e-6  # sacreBLEU's own precision here
METRICS = {"BLEU": lambda: BLEU(), "chrF2++": lambda: CHRF(word_order=2)}
REFERENCES = sentences("aa", LINES)


@pytest.fixture(autouse=True)
def sacrebleus_own_seed(monkeypatch):
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)


def resampled(name: str, hypotheses: list[str], references: list[str] = REFERENCES) -> np.ndarray:
    metric = METRICS[name]()
    return resampled_scores(metric, metric._extract_corpus_statistics(hypotheses, [references]))


def drawn(lines: list[str], sample: int) -> list[str]:
    """The lines of a resample, each as often as it was drawn."""
    return [line for line, times in zip(lines, draws(len(lines))[sample].astype(int)) for _ in range(times)]


@pytest.mark.parametrize("name", METRICS)
def test_an_interval_is_sacrebleus(name):
    hypotheses = spoilt(REFERENCES, 0.3)
    score = METRICS[name]().corpus_score(hypotheses, [REFERENCES], n_bootstrap=SAMPLES)
    assert score._ci > 1
    expected = [score._mean - score._ci, score._mean + score._ci]
    assert interval(resampled(name, hypotheses)) == pytest.approx(expected, rel=FLOAT32)


@pytest.mark.parametrize("name", METRICS)
def test_a_resample_is_scored_as_the_corpus_of_its_lines(name):
    hypotheses = spoilt(REFERENCES, 0.3)
    scores = resampled(name, hypotheses)
    for sample in (0, 1, SAMPLES - 1):
        score = METRICS[name]().corpus_score(drawn(hypotheses, sample), [drawn(REFERENCES, sample)]).score
        assert scores[sample] == pytest.approx(score, rel=FLOAT32)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("lines", [1, 2, 11, LINES])
@pytest.mark.parametrize("share", [0, 0.3, 0.95, 1])
def test_scores_of_all_resamples_are_sacrebleus_to_the_last_bit(name, lines, share):
    """Where no order has a match, one has none, or a set is too short for an order, too."""
    hypotheses = [*spoilt(REFERENCES[:lines], share)[1:], "", "w"][:lines]
    metric = METRICS[name]()
    statistics = metric._extract_corpus_statistics(hypotheses, [REFERENCES[:lines]])
    sums = draws(lines) @ np.array(statistics, dtype=np.float32)
    expected = np.array([metric._compute_score_from_stats(row).score for row in sums])
    found = resampled_scores(metric, statistics)
    assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


def test_each_resample_has_as_many_lines_as_the_set_and_no_two_are_alike():
    counts = draws(LINES)
    assert counts.shape == (SAMPLES, LINES) and set(counts.sum(1)) == {LINES}
    assert len(np.unique(counts, axis=0)) == SAMPLES
    assert signature() == "bs:1000|seed:12345"  # what sacreBLEU would write


@pytest.mark.parametrize("share", [0.28, 0.3, 0.35, 0.6])  # as good, hardly worse, worse, much worse
@pytest.mark.parametrize("name", METRICS)
def test_draws_are_those_of_sacrebleus_test_whose_p_has_another_order_of_steps(name, share):
    system, other = spoilt(REFERENCES, 0.3), spoilt(REFERENCES, share, seed=2)
    systems = [("one", system), ("other", other)]
    _, found = PairedTest(systems, {name: METRICS[name]()}, [REFERENCES], test_type="bs", n_samples=SAMPLES)()
    one, expected = found[name]
    scores, others, real = resampled(name, system), resampled(name, other), one.score - expected.score
    apart = np.abs(scores - others)
    assert (np.sum(apart - apart.mean() > abs(real)) + 1) / (SAMPLES + 1) == expected.p_value
    centred = abs((scores - others) - np.mean(scores - others))
    assert paired_test(scores, others, real).p == (np.sum(centred >= abs(real)) + 1) / (SAMPLES + 1)


def test_of_systems_that_do_not_differ_one_in_twenty_has_a_p_below_a_twentieth():
    """And an interval without 0, so that the two do not contradict each other."""
    generator, each = np.random.default_rng(1), draws(200) / 200
    values = generator.normal(size=(1500, 2, 200)).astype(np.float32)
    tests = [paired_test(each @ one, each @ other, float(one.mean() - other.mean())) for one, other in values]
    low = [test.p < 0.05 for test in tests]
    apart = [not test.interval[0] < 0 < test.interval[1] for test in tests]
    assert 0.035 < np.mean(low) < 0.07 and 0.45 < np.median([test.p for test in tests]) < 0.55
    assert np.mean(np.not_equal(low, apart)) < 0.02


def test_rounding_makes_no_difference_of_what_differs_in_one_line():
    """Of a test set of thousands: each draw has the line as often as chance has it."""
    generator, real = np.random.default_rng(3), 5e-4
    scores = generator.normal(30, 0.5, SAMPLES)
    others = scores - real * generator.poisson(size=SAMPLES)
    kept = [unpack(pack(each, 100), 100) for each in (scores, others)]
    assert paired_test(scores, others, real).p > 0.2 and paired_test(*kept, real).p < 0.1
    assert paired_test(*kept, real, top=100).p == 1


def test_p_values_are_from_one_to_the_smallest_of_a_thousand_draws():
    system = resampled("BLEU", spoilt(REFERENCES, 0.3))
    assert paired_test(system, system, 0.0).p == 1
    much_worse = resampled("BLEU", spoilt(REFERENCES, 0.9))
    assert paired_test(system, much_worse, system.mean() - much_worse.mean()).p == 1 / (SAMPLES + 1)


def test_a_difference_that_is_the_same_in_every_draw_is_no_luck():
    """As of a system that always writes another language, and one that never does."""
    always, never = (resampled_rates([flag] * LINES) for flag in (True, False))
    assert paired_test(always, never, 1.0, top=1) == ((1.0, 1.0), 1 / (SAMPLES + 1))


def test_the_other_way_round_a_difference_has_the_other_sign_and_the_same_p():
    one, other = (resampled("BLEU", spoilt(REFERENCES, 0.3, seed)) for seed in (1, 2))
    real = one.mean() - other.mean()
    forth, back = paired_test(one, other, real), paired_test(other, one, -real)
    assert forth.p == back.p and forth.interval == pytest.approx([-end for end in reversed(back.interval)])
    assert forth.interval == tuple(interval(one - other))


def test_the_mean_of_two_directions_draws_the_same_lines_of_both():
    """In a multiway set line n is one sentence in all languages, so the directions are not independent."""
    sets = {language: sentences(language, LINES) for language in ("aa", "bb")}
    hypotheses = {language: spoilt(lines, 0.3, seed=5) for language, lines in sets.items()}  # spoilt alike
    means = np.mean([resampled("BLEU", hypotheses[language], sets[language]) for language in sets], axis=0)
    for sample in (0, 7, SAMPLES - 1):
        scores = [
            BLEU().corpus_score(drawn(hypotheses[language], sample), [drawn(references, sample)]).score
            for language, references in sets.items()
        ]
        assert means[sample] == pytest.approx(sum(scores) / 2, rel=FLOAT32)
    shifted = np.roll(
        resampled("BLEU", hypotheses["bb"], sets["bb"]), 1
    )  # other lines for the second direction
    apart = (resampled("BLEU", hypotheses["aa"], sets["aa"]) + shifted) / 2
    assert means.std() > 1.2 * apart.std()


def test_rates_are_the_share_among_the_drawn_lines():
    flags = [line % 3 == 0 for line in range(LINES)]
    rates = resampled_rates(flags)
    for sample in (0, 7, SAMPLES - 1):
        assert rates[sample] == pytest.approx(sum(drawn(flags, sample)) / LINES)
    assert interval(rates)[0] < sum(flags) / LINES < interval(rates)[1]
    assert set(resampled_rates([True] * LINES)) == {1} and set(resampled_rates([False] * LINES)) == {0}


@pytest.mark.parametrize("top", [1, 100])
def test_packed_scores_come_back_within_half_a_step(top):
    scores = np.random.default_rng(3).uniform(0, top, SAMPLES)
    scores[:2] = 0, top
    text = pack(scores, top)
    assert text.isascii() and len(text) < 3 * SAMPLES
    back = unpack(text, top)
    assert np.abs(back - scores).max() <= top / STEPS / 2 * (1 + 1e-9) and list(back[:2]) == [0, top]
    assert pack(back, top) == text
    assert interval(back) == pytest.approx(interval(scores), abs=top / STEPS)
