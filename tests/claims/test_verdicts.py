"""The rule of verdicts, on figures of no run."""

import math

import pytest

from zsnmt.claims.verdicts import (
    ABOVE_ZERO,
    BELOW_ZERO,
    FAILS,
    HOLDS,
    OPEN,
    OPPOSES,
    SUPPORTS,
    UNDECIDED,
    UNTESTED,
    WEAKLY,
    Effect,
    at_least,
    difference,
    spread,
    verdict,
    within,
)
from zsnmt.report.table import Measured

FIGURES = {SUPPORTS: (2.0, 3.0), OPPOSES: (-3.0, -2.0), OPEN: (-1.0, 4.0)}


def effect(vote: str, several: bool, wanted=None) -> Effect:
    measured = Measured("bleu", sum(FIGURES[vote]) / 2, interval=FIGURES[vote], difference=True)
    return Effect("made_up", "1, 2" if several else "1", measured, several=several, range=wanted)


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
    ],
)
def test_an_interval_in_the_range_supports_and_one_outside_opposes(interval, wanted, vote):
    assert wanted.vote(Measured("bleu", sum(interval) / 2, interval=interval)) == vote


def test_without_an_interval_the_figure_itself_decides():
    assert (
        ABOVE_ZERO.vote(Measured("bleu", 0.1)) == SUPPORTS
        and ABOVE_ZERO.vote(Measured("bleu", 0.0)) == OPPOSES
    )


@pytest.mark.parametrize(
    "votes, expected",
    [
        ([], UNTESTED),
        ([(SUPPORTS, True)], HOLDS),
        ([(SUPPORTS, True), (SUPPORTS, False)], HOLDS),
        ([(SUPPORTS, True), (OPEN, False)], WEAKLY),
        ([(SUPPORTS, True), (OPPOSES, False)], WEAKLY),
        ([(SUPPORTS, True), (OPPOSES, True)], UNDECIDED),
        ([(OPPOSES, True)], FAILS),
        ([(OPPOSES, True), (SUPPORTS, False), (OPEN, True)], FAILS),
        ([(OPPOSES, False)], UNDECIDED),
        ([(SUPPORTS, False)], WEAKLY),
        ([(SUPPORTS, False), (OPEN, False)], WEAKLY),
        ([(SUPPORTS, False), (OPEN, True)], UNDECIDED),
        ([(SUPPORTS, False), (OPPOSES, False)], UNDECIDED),
        ([(OPEN, True)], UNDECIDED),
    ],
)
def test_what_follows_from_all_configs(votes, expected):
    assert verdict([effect(*vote) for vote in votes], ABOVE_ZERO) == expected


def test_a_part_with_a_range_of_its_own_is_held_against_that():
    parts = [effect(SUPPORTS, True), effect(OPPOSES, True, wanted=BELOW_ZERO)]
    assert verdict(parts, ABOVE_ZERO) == HOLDS


def test_the_interval_is_widened_to_two_deviations_of_a_difference_of_two_runs():
    found = difference("bleu", [5.0, 7.0, 9.0], [1.0, 2.0])
    noise = 2 * math.sqrt(4.0 + 0.5)  # variances of the two sides
    assert found.mean == 5.5 and found.interval == pytest.approx((5.5 - noise, 5.5 + noise))
    bootstrapped = Measured("bleu", 5.5, interval=(-9.0, 6.0), difference=True)
    assert spread(bootstrapped, [5.0, 7.0, 9.0], [1.0, 2.0]).interval == pytest.approx((-9.0, 5.5 + noise))


def test_one_seed_widens_nothing_and_has_no_interval_of_its_own():
    assert difference("bleu", [5.0], [1.0, 2.0]).interval is None
    assert spread(Measured("bleu", 4.0, interval=(3.0, 5.0)), [5.0], [1.0]).interval == (3.0, 5.0)
