"""Which lines are translated."""

import random
from statistics import fmean

import pytest

from zsnmt.distillation.selection import select_lines

PIVOT = [f"Pivot {number % 50}." for number in range(60)]  # the last ten are the first ten again
OTHER = [f"Other {number // 2}." for number in range(60)]  # each stands in two lines


def select(lines=None, held_out=4, seed=1):
    return select_lines(PIVOT, OTHER, lines=lines, held_out=held_out, generator=random.Random(seed))


@pytest.mark.parametrize("seed", range(5))
def test_held_out_lines_share_no_side_with_training_lines(seed):
    train, held_out = select(seed=seed)
    assert len(held_out) == 4
    for side in (PIVOT, OTHER):
        assert not {side[place] for place in train} & {side[place] for place in held_out}
    left_out = {*range(60)} - {*train} - {*held_out}
    assert left_out == {
        place
        for place in range(60)
        if place not in held_out
        and any(side[place] == side[held] for side in (PIVOT, OTHER) for held in held_out)
    }


def test_at_most_a_tenth_is_held_out_and_lines_bound_the_rest():
    assert len(select(held_out=40).held_out) == 6 and not select(held_out=0).held_out
    assert select(held_out=0).train == [*range(60)]
    bounded = select(lines=7)
    assert len(bounded.train) == 7 and bounded.held_out == select().held_out
    assert {*bounded.train} <= {*select().train} and bounded.all == sorted(bounded.train + bounded.held_out)
    assert len(select(lines=1000).train) == len(select().train)


def test_the_lines_to_train_on_are_drawn_from_the_whole_text():
    """Ten of sixty, again and again, are from the middle on average, and in order."""
    drawn = [select(lines=10, held_out=0, seed=seed).train for seed in range(200)]
    assert all(train == sorted(train) for train in drawn)
    assert 28 < fmean(place for train in drawn for place in train) < 31


def test_the_choice_is_that_of_its_generator():
    assert select() == select() != select(seed=2)
