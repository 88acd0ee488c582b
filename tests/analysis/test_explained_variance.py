"""How much of the variance of states a label explains: the formula in a loop, and what it must be."""

import math
from itertools import permutations
from statistics import fmean

import numpy as np
import pytest

from zsnmt.analysis import explained_variance as module
from zsnmt.analysis.explained_variance import explained_variance
from zsnmt.errors import InputError

ROWS, DIMENSION, CLASSES = 40, 3, 6
ROUNDING = 1e-12  # of sums of a few hundred numbers of size 1 in float64, with room


@pytest.fixture
def classes():
    return np.random.default_rng(2).integers(CLASSES, size=ROWS)


@pytest.fixture
def states(classes):
    generator = np.random.default_rng(1)
    means = 5 + generator.standard_normal((CLASSES, DIMENSION))
    return (means[classes] + generator.standard_normal((ROWS, DIMENSION))).astype(np.float32)


def naive(states, classes):
    """Epsilon squared as Kelley (1935) has it, in a loop over rows and dimensions."""
    mean, total, within = states.astype(float).mean(axis=0), 0.0, 0.0
    for row, own in zip(states.astype(float), classes):
        of_class = np.mean([other.astype(float) for other, c in zip(states, classes) if c == own], axis=0)
        for value, centre, overall in zip(row, of_class, mean):
            within += (value - centre) ** 2
            total += (value - overall) ** 2
    number = len(set(classes.tolist()))
    unexplained = within / (len(states) - number)
    return (total - within - (number - 1) * unexplained) / total


@pytest.mark.parametrize("block", [1, 7, 8192])
def test_it_is_the_formula_whatever_the_block(states, classes, block, monkeypatch):
    monkeypatch.setattr(module, "ROWS_AT_A_TIME", block)
    share = explained_variance(states, classes)
    assert share == pytest.approx(naive(states, classes), abs=ROUNDING) and 0.1 < share < 0.9


def test_over_all_orders_of_the_labels_its_mean_is_0():
    states = np.random.default_rng(3).standard_normal((6, 2)) ** 3
    shares = [explained_variance(states, np.array(order)) for order in permutations([0, 0, 0, 1, 1, 2])]
    assert fmean(shares) == pytest.approx(0, abs=ROUNDING)
    assert min(shares) < -0.1 < 0.1 < max(shares)  # nothing is clamped


def test_many_classes_of_random_labels_do_not_raise_it():
    generator = np.random.default_rng(4)
    states = generator.standard_normal((count := 3000, dimension := 5))
    for number in (2, 50, 1000):
        share = explained_variance(states, generator.integers(number, size=count))
        # In each dimension eta squared is Beta((C - 1) / 2, (N - C) / 2) of normal states.
        deviation = math.sqrt(2 * (number - 1) / (count - number) / (count + 1) / dimension)
        assert abs(share) < 5 * deviation < 0.05


def test_states_that_are_a_function_of_the_label_are_explained_whole(classes):
    states = np.random.default_rng(5).standard_normal((CLASSES, DIMENSION))[classes]
    assert explained_variance(states, classes) == pytest.approx(1, abs=ROUNDING)


def test_neither_the_order_of_rows_nor_names_of_classes_nor_turn_shift_and_scale_matter(states, classes):
    order = np.random.default_rng(6).permutation(ROWS)
    turn = np.linalg.qr(np.random.default_rng(7).standard_normal((DIMENSION, DIMENSION)))[0]
    share = explained_variance(states, classes)
    assert explained_variance(states[order], 1000 - 7 * classes[order]) == pytest.approx(share, abs=ROUNDING)
    assert explained_variance(states.astype(float) @ turn * 3 + 20, classes) == pytest.approx(
        share, abs=1e-11
    )


def test_where_nothing_can_be_said_there_is_no_value(states, classes):
    assert explained_variance(states[:1], classes[:1]) is None  # one row
    assert explained_variance(states, np.zeros(ROWS, int)) is None  # one class
    assert explained_variance(states, np.arange(ROWS)) is None  # a class for each row
    assert explained_variance(np.full_like(states, 0.1), classes) is None  # one state


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_states_that_are_not_finite_are_refused(states, classes, value):
    states[17, 1] = value
    with pytest.raises(InputError, match="a state is not finite; run the model in full precision"):
        explained_variance(states, classes)
