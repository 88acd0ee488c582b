"""Differences of scores with intervals and p-values, from the resamples of score files."""

from dataclasses import replace
from statistics import fmean, stdev

import numpy as np
import pytest

from tests.support.resampled import with_resamples
from tests.support.scores import made_up_scores
from zsnmt.languages import ZERO_SHOT, Direction, parse_direction
from zsnmt.report.finding import finding
from zsnmt.report.scores import Column
from zsnmt.report.significance import Part, Side, difference, gain, same_seeds_note
from zsnmt.runs.scores import NO_SEED
from zsnmt.runs.ways import DIRECT, PIVOT
from zsnmt.scoring.bootstrap import SAMPLES, pack, paired_test, unpack
from zsnmt.scoring.figures import ranges

RUNS = [with_resamples(made_up_scores("residual", seed, bleu)) for seed, bleu in ((1, 14.0), (2, 30.0))]
BASE = [
    with_resamples(made_up_scores("baseline", seed, bleu)) for seed, bleu in ((1, 5.0), (2, 8.0), (3, 6.0))
]
OLD = made_up_scores("baseline", 4, 5.0)
FRENCH = Direction("de", "fr")


def naive(runs, way, figure, *directions):
    """The mean over seeds and zero-shot directions, draw by draw."""
    return [
        fmean(
            fmean(
                unpack(result.uncertainty.resampled[figure], ranges()[figure])[draw]
                for result in scores.results
                if result.way == way and str(result.direction) in directions
            )
            for scores in runs
        )
        for draw in range(SAMPLES)
    ]


def resamples(runs, figure="bleu", directions=None, way=DIRECT):
    return Side(runs, Column(ZERO_SHOT, way, figure)).resamples(directions)


@pytest.mark.parametrize("figure", ranges())
@pytest.mark.parametrize("way", [DIRECT, PIVOT])
def test_resamples_are_means_over_directions_and_seeds(figure, way):
    assert resamples(RUNS, figure, {FRENCH}, way) == pytest.approx(naive(RUNS, way, figure, "de-fr"))
    every = naive(RUNS, way, figure, "de-fr", "fr-de")
    assert resamples(RUNS, figure, {FRENCH, Direction("fr", "de")}, way) == pytest.approx(every)
    assert resamples(RUNS, figure, None, way) == pytest.approx(
        every, abs=1e-4 * ranges()[figure]
    )  # the kept mean is rounded too


def test_a_mean_over_directions_of_several_kinds_gives_each_direction_the_same_weight():
    """Two zero-shot directions and a supervised one."""
    names = ("de-fr", "fr-de", "en-de")
    part = Part(RUNS, DIRECT, {*map(parse_direction, names)})
    expected = [
        fmean(
            result.figures["bleu"]
            for result in scores.results
            if result.way == DIRECT and str(result.direction) in names
        )
        for scores in RUNS
    ]
    assert part.means("bleu") == pytest.approx(expected)
    assert part.resamples("bleu") == pytest.approx(naive(RUNS, DIRECT, "bleu", *names))
    assert part.measured("bleu").mean == pytest.approx(fmean(expected))


def test_a_mean_over_some_directions_of_a_kind_is_not_that_over_all():
    found = Part(RUNS, DIRECT, {FRENCH}).measured("bleu")
    assert found.mean == pytest.approx(fmean((14.0 - 1, 30.0 - 1)))  # as `made_up_scores` has de-fr


def test_what_kept_scores_are_too_coarse_to_tell_is_no_difference():
    """Each draw of a test set of thousands has the one line that differs as often as chance has it."""
    generator, real = np.random.default_rng(3), 5e-4
    scores = generator.normal(30, 0.5, SAMPLES)
    others = scores - real * generator.poisson(size=SAMPLES)
    kept = [unpack(pack(each, 100), 100) for each in (scores, others)]
    assert difference("bleu", [30.0], [30.0 - real], (kept[0], kept[1])).p == 1


@pytest.mark.parametrize("runs", [[OLD], [*BASE, OLD]])
@pytest.mark.parametrize("directions", [None, {FRENCH}])
def test_where_a_run_has_no_resamples_there_are_none(runs, directions):
    assert resamples(runs, "bleu", directions) is None


def test_what_was_not_scored_or_is_not_resampled_has_no_resamples():
    assert resamples(BASE, "bleu", {Direction("de", "it")}) is None
    assert resamples(BASE, "bleu", set()) is None
    assert resamples(BASE, "comet") is None and resamples(BASE, "comet", {FRENCH}) is None


def test_a_difference_is_tested_as_the_bootstrap_tests_the_naive_means():
    one, other = ([12.0, 28.0], [4.0, 7.0, 5.0])
    found = difference("bleu", one, other, (resamples(RUNS), resamples(BASE)))
    draws = (np.array(naive(runs, DIRECT, "bleu", "de-fr", "fr-de")) for runs in (RUNS, BASE))
    expected = paired_test(*draws, fmean(one) - fmean(other))
    assert found.mean == fmean(one) - fmean(other) and found.difference and found.deviation is None
    assert found.interval == pytest.approx(expected.interval, abs=0.02) and found.p == pytest.approx(
        expected.p, abs=0.01
    )


def test_p_is_1_for_a_system_and_itself_smallest_for_distant_ones_and_the_same_from_either_side():
    noise = np.random.default_rng(3).normal(20, 1, SAMPLES), np.random.default_rng(4).normal(20, 1, SAMPLES)
    for values, others, draws, p in (
        ([5.0], [5.0], (noise[0], noise[0]), 1),
        ([40.0], [20.0], (noise[0] + 20, noise[1]), 1 / (SAMPLES + 1)),
        ([20.5], [20.0], (noise[0] + 0.5, noise[1]), None),
    ):
        found, turned = (
            difference("bleu", values, others, draws),
            difference("bleu", others, values, draws[::-1]),
        )
        assert found.p == turned.p and found.mean == -turned.mean and p in (None, found.p)
        assert found.interval == pytest.approx([-end for end in turned.interval[::-1]])
    assert 0.05 < found.p < 0.95


def test_a_system_without_a_known_seed_is_compared_with_all_runs_also_where_one_has_seed_0():
    """The score file of a system of another toolkit says 0 where no seed is known."""
    base = [made_up_scores("baseline", seed, bleu) for seed, bleu in ((0, 5.0), (1, 9.0))]
    other = replace(made_up_scores("nllb", NO_SEED, 20.0), made_elsewhere=True)
    assert gain([other], base, Column(ZERO_SHOT, DIRECT, "bleu")).mean == 13.0
    assert same_seeds_note("baseline", [base, [other]]).endswith("where they share none, over all of both.")
    assert finding([*base, other]).endswith("15.5 BLEU: less good by 4.5 with other seeds.")


def test_only_differences_within_runs_have_a_deviation():
    values, others = [14.0, 30.0], [15, 16]  # a score may be a whole number
    assert difference("bleu", values, others, (None, None)).deviation is None
    within = difference("bleu", values, others, (None, None), same_runs=True)
    assert within.deviation == pytest.approx(stdev([-1.0, 14.0]))
    assert difference("bleu", others, values, (None, None), same_runs=True).deviation == pytest.approx(
        within.deviation
    )
    assert difference("bleu", values[:1], others[:1], (None, None), same_runs=True).deviation is None


def test_without_resamples_on_both_sides_a_difference_has_no_interval():
    draws = resamples(RUNS)
    for resampled in ((None, draws), (draws, None), (None, None)):
        found = difference("bleu", [2.0], [1.0], resampled)
        assert (found.mean, found.interval, found.p, found.note) == (1.0, None, None, "")


@pytest.mark.parametrize(
    ("values", "others"), [([], [1.0]), ([1.0], []), ([None], [1.0]), ([1.0, 2.0], [None, 1.0])]
)
def test_a_difference_from_what_was_not_scored_is_not_made_up(values, others):
    assert difference("bleu", values, others, (None, None)) is None
