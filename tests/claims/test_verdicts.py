"""The rule of verdicts, on figures of no run."""

import math
import random
from dataclasses import replace
from statistics import fmean, stdev

import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp, ttest_ind, ttest_rel

from zsnmt.claims.plan import MOST_CHEAP_SEEDS
from zsnmt.claims.verdicts import (
    ABOVE_ZERO,
    BELOW_ZERO,
    DEPENDS,
    FAILS,
    HOLDS,
    OPEN,
    OPPOSED,
    OPPOSES,
    SUPPORTS,
    UNDECIDED,
    UNTESTED,
    WEAKLY,
    Effect,
    at_least,
    clause_verdicts,
    difference,
    effect,
    half_width,
    seed_by_seed,
    seeds_that_tell,
    seeds_to_decide,
    verdict,
    within,
)
from zsnmt.report.table import Measured

FIGURES = {SUPPORTS: (2.0, 3.0), OPPOSES: (-3.0, -2.0), OPEN: (-1.0, 4.0)}


def voting(vote: str, several: bool, wanted=None) -> Effect:
    measured = Measured("bleu", sum(FIGURES[vote]) / 2, interval=FIGURES[vote], difference=True)
    return Effect("made_up", [[1, 2]] if several else "1", measured, several=several, range=wanted)


@pytest.mark.parametrize(
    "interval, wanted, vote",
    [
        ((0.1, 2.0), ABOVE_ZERO, SUPPORTS),
        ((0.0, 2.0), ABOVE_ZERO, OPEN),
        ((-2.0, 0.0), ABOVE_ZERO, OPPOSES),
        ((-2.0, -0.1), BELOW_ZERO, SUPPORTS),
        ((-0.9, 5.0), at_least(-1.0), SUPPORTS),
        ((-1.0, 1.0), within(1.0), SUPPORTS),
        ((-1.1, 1.0), within(1.0), OPEN),
        ((1.1, 2.0), within(1.0), OPPOSES),
        ((1.0, 2.0), within(1.0), OPEN),
        ((-2.0, -1.0), within(1.0), OPEN),
    ],
)
def test_an_interval_in_the_range_supports_and_one_outside_opposes(interval, wanted, vote):
    assert wanted.vote(Measured("bleu", sum(interval) / 2, interval=interval)) == vote


def test_a_figure_without_an_interval_leaves_the_claim_open():
    assert {ABOVE_ZERO.vote(Measured("bleu", mean)) for mean in (-50.0, 0.0, 50.0)} == {OPEN}


@pytest.mark.parametrize(
    "votes, expected",
    [
        ([], UNTESTED),
        ([(SUPPORTS, True)], HOLDS),
        ([(SUPPORTS, True), (SUPPORTS, False)], HOLDS),
        ([(SUPPORTS, True), (OPEN, False)], WEAKLY),
        ([(SUPPORTS, True), (OPPOSES, False)], WEAKLY),
        ([(SUPPORTS, True), (OPPOSES, True)], DEPENDS),
        ([(SUPPORTS, True), (OPPOSES, True), (OPEN, True), (OPEN, True), (OPEN, True)], DEPENDS),
        ([(OPPOSES, True)], FAILS),
        ([(OPPOSES, True), (SUPPORTS, False), (OPEN, True)], FAILS),
        ([(OPPOSES, False)], OPPOSED),
        ([(SUPPORTS, False)], WEAKLY),
        ([(SUPPORTS, False), (OPEN, False)], WEAKLY),
        ([(SUPPORTS, False), (OPEN, True)], UNDECIDED),
        ([(SUPPORTS, True), (OPEN, True)], WEAKLY),
        ([(SUPPORTS, True), (OPEN, True), (OPEN, True)], UNDECIDED),
        ([(OPPOSES, True), (OPEN, True), (OPEN, True)], OPPOSED),
        ([(OPPOSES, False), (OPEN, True)], UNDECIDED),
        ([(OPPOSES, False), (OPEN, False)], OPPOSED),
        ([(SUPPORTS, False), (OPPOSES, False)], UNDECIDED),
        ([(OPEN, True)], UNDECIDED),
    ],
)
def test_what_follows_from_all_configs(votes, expected):
    assert verdict([voting(*vote) for vote in votes], ABOVE_ZERO) == expected


def test_a_clause_that_is_weakly_opposed_is_worse_than_one_that_depends_on_the_text():
    opposed = replace(voting(OPPOSES, False), clause="one")
    depends = [replace(voting(vote, True), clause="other") for vote in (SUPPORTS, OPPOSES)]
    assert verdict(depends, ABOVE_ZERO) == DEPENDS
    assert verdict([opposed, *depends], ABOVE_ZERO) == OPPOSED


def test_a_figure_that_is_the_lowest_of_several_needs_more_seeds_to_tell():
    alone, chosen = (replace(voting(OPEN, True), deviations=(1.0,), chosen_from=each) for each in (1, 6))
    one, lowest = (seeds_to_decide(each, ABOVE_ZERO) for each in (alone, chosen))
    assert one < lowest == seeds_that_tell(chosen.measured.mean, (1.0,), chosen_from=6)


def test_a_part_with_a_range_of_its_own_is_held_against_that():
    parts = [voting(SUPPORTS, True), voting(OPPOSES, True, wanted=BELOW_ZERO)]
    assert verdict(parts, ABOVE_ZERO) == HOLDS


def test_what_an_unfinished_training_says_of_supervised_quality_it_says_weakly():
    unfinished = replace(voting(OPPOSES, True), unfinished=True)
    assert verdict([unfinished], ABOVE_ZERO) == OPPOSED
    assert verdict([unfinished, voting(SUPPORTS, True)], ABOVE_ZERO) == WEAKLY


@pytest.mark.parametrize(
    "clauses, expected",
    [
        ([SUPPORTS, SUPPORTS], HOLDS),
        ([SUPPORTS, OPPOSES], FAILS),
        ([SUPPORTS, OPEN], UNDECIDED),
        ([OPEN, OPPOSES], FAILS),
    ],
)
def test_a_claim_is_as_good_as_the_worst_of_its_clauses(clauses, expected):
    effects = [replace(voting(vote, True), clause=str(place)) for place, vote in enumerate(clauses)]
    assert verdict(effects, ABOVE_ZERO) == expected
    assert [*clause_verdicts(effects, ABOVE_ZERO)] == ["0", "1"]


@pytest.mark.parametrize(
    "vote, expected", [(SUPPORTS, UNDECIDED), (OPPOSES, FAILS), (OPEN, UNDECIDED), (None, UNTESTED)]
)
def test_a_claim_of_which_a_clause_is_not_tested_does_not_hold_by_the_others(vote, expected):
    effects = [replace(voting(vote, True), clause="one")] if vote else []
    assert verdict(effects, ABOVE_ZERO, ["one", "other"]) == expected
    assert clause_verdicts(effects, ABOVE_ZERO, ["one", "other"])["other"] == UNTESTED


def test_the_interval_is_widened_to_welchs_of_the_seeds():
    sides = [5.0, 7.0, 9.0], [1.0, 2.0]
    noise = ttest_ind(*sides, equal_var=False).confidence_interval(0.95).high - 5.5
    found = effect("made_up", difference("bleu", *sides), sides, seeds=[[1, 2]])
    assert found.several and found.measured.mean == 5.5
    assert found.measured.interval == pytest.approx((5.5 - noise, 5.5 + noise))
    assert found.deviation == pytest.approx(math.sqrt((4.0 + 0.5) / 2))
    bootstrapped = Measured("bleu", 5.5, interval=(-9.0, 6.0), difference=True)
    widened = effect("made_up", bootstrapped, sides, seeds=[[1, 2]]).measured
    assert widened.interval == pytest.approx((-9.0, 5.5 + noise))


SEEDS = [3, 1, 2]


def test_systems_of_the_same_seeds_are_compared_seed_by_seed():
    sides, seeds = [[5.0, 7.0, 9.0], [1.0, 4.5, 6.0]], [SEEDS, [1, 2, 3]]
    differences = [5.0 - 6.0, 7.0 - 1.0, 9.0 - 4.5]
    assert seed_by_seed(sides, seeds) == [differences]
    found = effect("made_up", difference("bleu", *sides), seed_by_seed(sides, seeds), seeds=seeds)
    interval = ttest_rel(sides[0], [6.0, 1.0, 4.5]).confidence_interval(0.95)
    assert found.measured.interval == pytest.approx((interval.low, interval.high))
    assert found.several and found.deviation == pytest.approx(stdev(differences))


@pytest.mark.parametrize("seeds", [[[1, 2, 3], [1, 2, 4]], [[1, 2, 3], [1, 2]], [[1, 2], [1, 2]]])
def test_systems_of_other_seeds_or_of_two_are_compared_by_their_means(seeds):
    sides = [[float(seed) for seed in of_side] for of_side in seeds]
    assert seed_by_seed(sides, seeds) == sides


def test_the_lowest_of_several_figures_has_a_wider_interval():
    """Of the difference itself so often by chance as Bonferroni bounds it."""
    sides = [5.0, 7.0, 9.0], [1.0, 2.0, 4.0]
    of_one, of_six = half_width(sides), half_width(sides, chosen_from=6)
    test = ttest_ind(*sides, equal_var=False)
    assert of_one < of_six == pytest.approx(test.confidence_interval(1 - 0.05 / 6).high - (7.0 - 7 / 3))


def test_the_interval_of_a_share_ends_where_shares_do():
    sides = [0.9, 0.2], [0.95, 0.9]
    for measured, ends in (
        (difference("accuracy", *sides), (-1.0, 1.0)),
        (Measured("off_target", 0.5), (0.0, 1.0)),
    ):
        assert effect("made_up", measured, sides, seeds=[[1, 2]]).measured.interval == ends


def test_seeds_that_are_alike_widen_nothing():
    assert half_width([[2.0, 2.0], [1.0, 1.0]]) == 0.0


def test_the_interval_of_one_mean_is_students():
    values = [5.0, 7.0, 9.0]
    assert half_width([values]) == pytest.approx(ttest_1samp(values, 0).confidence_interval(0.95).high - 7.0)


def test_one_seed_widens_nothing_and_has_no_interval_of_its_own():
    one = [5.0], [1.0, 2.0]
    found = effect("made_up", difference("bleu", *one), one, seeds=[[1]])
    assert found.measured.interval is None and not found.several and found.deviation is None
    bootstrapped = Measured("bleu", 4.0, interval=(3.0, 5.0))
    assert effect("made_up", bootstrapped, ([5.0], [1.0]), seeds=[[1]]).measured.interval == (3.0, 5.0)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("chosen_from", [1, 6])
@pytest.mark.parametrize("number", [2, 5, 20])
def test_seeds_tell_once_the_distance_is_that_of_students_t_and_its_power(number, chosen_from, sides):
    """Sides that deviate alike have the freedom of all their seeds but one of each."""
    freedom = sides * (number - 1)
    ends = student.ppf(1 - 0.025 / chosen_from, freedom) + student.ppf(0.8, freedom)
    distance, deviations = ends * math.sqrt(sides * 3.0**2 / number), [3.0] * sides
    assert seeds_that_tell(distance * 1.001, deviations, chosen_from=chosen_from) == number
    assert seeds_that_tell(distance * 0.999, deviations, chosen_from=chosen_from) == number + 1


@pytest.mark.parametrize(
    "distance, chosen_from, deviations",
    [
        (0.8, 1, (1.0,)),
        (1.5, 1, (1.0, 0.2)),
        (1.5, 6, (1.0, 1.0)),
        (1.5, 6, (0.5, 0.5, 1.0, 0.1)),
    ],
)
def test_so_many_seeds_tell_in_four_of_five_cases(distance, chosen_from, deviations):
    """By drawing them; one fewer tells less often. The interval is that of the lowest of some figures."""
    draw = random.Random(1).gauss

    def told(number: int) -> float:
        found = []
        for _ in range(1000):
            sides = [[draw(0, deviation) for _ in range(number)] for deviation in deviations]
            first, *others = map(fmean, sides)
            found.append(distance + first - sum(others) > half_width(sides, chosen_from))
        return fmean(found)

    number = seeds_that_tell(distance, deviations, chosen_from=chosen_from)
    assert number > 2 and 0.75 < told(number) < 0.95 and told(number - 1) < 0.83


@pytest.mark.parametrize("blocks, most", [(False, 0.09), (True, 0.12)])
def test_a_claim_to_which_seeds_are_added_is_decided_wrongly_a_little_more_often(blocks, most):
    """Two systems alike, so that zero is the bound; as many seeds more as would tell, again and again. By
    their means, and seed by seed.
    """
    draw = random.Random(1).gauss

    def is_decided(adding: bool) -> bool:
        sides = [[draw(0, 1) for _ in range(3)] for _ in range(1 if blocks else 2)]
        while (apart := abs(fmean(sides[0]) - sum(map(fmean, sides[1:])))) <= half_width(sides):
            number = seeds_that_tell(apart, [*map(stdev, sides)])
            if not adding or number is None or not len(sides[0]) < number <= MOST_CHEAP_SEEDS:
                return False
            sides = [side + [draw(0, 1) for _ in range(number - len(side))] for side in sides]
        return True

    once, added = (fmean(is_decided(adding) for _ in range(1000)) for adding in (False, True))
    assert 0.02 < once < 0.06 and once < added < most


def test_of_what_does_not_differ_no_number_of_seeds_tells():
    assert seeds_that_tell(0.0, [1.0]) is None and seeds_that_tell(1e-3, [1.0, 1.0]) is None
    assert seeds_that_tell(1e-3, [0.0, 0.0]) == 2
