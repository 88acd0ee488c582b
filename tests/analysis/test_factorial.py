"""Effects of factorial designs: those that were put in come out, and intervals are those of a naive way."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import t

from zsnmt.analysis.factorial import effect, interval, signs, terms

NAMES, HIGH = ("one", "two", "three"), ("b", "d", "f")
CELLS = [*product("ab", "cd", "ef")]
SEEDS, DIRECTIONS = 3, 4


def made_up(effects, seed_effects=(0.0,) * SEEDS, noise=0.0):
    """Values in which every term has the size of `effects`, half of it up and half of it down."""
    random = np.random.default_rng(7)
    values = np.full((len(CELLS), SEEDS, DIRECTIONS), 31.0) + np.array(seed_effects)[:, None]
    values += np.arange(DIRECTIONS) * 3.0
    for term, size in effects.items():
        values += signs_of(term)[:, None, None] * size / 2
    return values + noise * random.standard_normal(values.shape)


def signs_of(term):
    return signs(CELLS, [NAMES.index(name) for name in term], HIGH)


EFFECTS = {term: 1.5 * place - 2 for place, term in enumerate(terms(NAMES))}


def test_every_effect_of_a_made_up_design_is_recovered_and_nothing_else():
    assert [*EFFECTS] == [(name,) for name in NAMES] + [
        ("one", "two"),
        ("one", "three"),
        ("two", "three"),
    ]
    for term, size in EFFECTS.items():
        found = effect(made_up(EFFECTS), signs_of(term))
        assert found.size == pytest.approx(size) and found.interval == pytest.approx((size, size))
    with_interaction = effect(made_up(EFFECTS), signs_of(NAMES))  # of three factors there was none
    assert with_interaction.size == pytest.approx(0)


def test_an_interaction_is_what_one_changes_more_than_on_average_where_the_other_is_high():
    values = made_up(EFFECTS, noise=1.0)
    cells = {cell: values[place].mean() for place, cell in enumerate(CELLS)}

    def change(where):
        """What `one` changes over the cells that `where` chooses."""
        sides = [[v for cell, v in cells.items() if cell[0] == level and where(cell)] for level in "ba"]
        return np.mean(sides[0]) - np.mean(sides[1])

    average = change(lambda cell: True)
    assert effect(values, signs_of(("one",))).size == pytest.approx(average)
    both = effect(values, signs_of(("one", "two"))).size
    assert both == pytest.approx(change(lambda cell: cell[1] == "d") - average)
    assert both == pytest.approx(
        (change(lambda cell: cell[1] == "d") - change(lambda cell: cell[1] == "c")) / 2
    )


def test_what_adds_to_all_cells_of_a_seed_cancels():
    for term in EFFECTS:
        plain, shifted = (
            effect(made_up(EFFECTS, seed_effects, noise=1.0), signs_of(term))
            for seed_effects in ((0.0, 0.0, 0.0), (40.0, -20.0, 3.0))
        )
        assert shifted.size == pytest.approx(plain.size)
        assert shifted.interval == pytest.approx(plain.interval)


@pytest.mark.parametrize("of_seed, of_direction, rest", [(3, 2, 0.5), (3, 0, 1), (0, 3, 1), (0.01, 0.01, 3)])
def test_the_interval_is_that_of_two_random_effects_in_loops(of_seed, of_direction, rest):
    random = np.random.default_rng(11)
    shape = SEEDS, DIRECTIONS
    table = of_seed * random.standard_normal(SEEDS)[:, None] + of_direction * random.standard_normal(
        DIRECTIONS
    )
    table = table + rest * random.standard_normal(shape)
    mean = table.mean()
    rows = [sum(table[s]) / DIRECTIONS for s in range(SEEDS)]
    columns = [sum(table[:, d]) / SEEDS for d in range(DIRECTIONS)]
    squares = {
        "seed": DIRECTIONS * sum((row - mean) ** 2 for row in rows) / (SEEDS - 1),
        "direction": SEEDS * sum((column - mean) ** 2 for column in columns) / (DIRECTIONS - 1),
        "rest": sum(
            (table[s, d] - rows[s] - columns[d] + mean) ** 2 for s in range(SEEDS) for d in range(DIRECTIONS)
        )
        / ((SEEDS - 1) * (DIRECTIONS - 1)),
    }
    free = {"seed": SEEDS - 1, "direction": DIRECTIONS - 1, "rest": (SEEDS - 1) * (DIRECTIONS - 1)}
    sigma = {  # variances of the random effects, none below zero
        "seed": max(0, (squares["seed"] - squares["rest"]) / DIRECTIONS),
        "direction": max(0, (squares["direction"] - squares["rest"]) / SEEDS),
    }
    variance = (
        sigma["seed"] / SEEDS + sigma["direction"] / DIRECTIONS + squares["rest"] / (SEEDS * DIRECTIONS)
    )
    weights = {"seed": sigma["seed"] > 0, "direction": sigma["direction"] > 0}
    weights["rest"] = 1 - sum(weights.values())
    pieces = {name: weights[name] * squares[name] / (SEEDS * DIRECTIONS) for name in squares}
    degrees = variance**2 / sum(piece**2 / free[name] for name, piece in pieces.items())
    half = t.ppf(0.975, degrees) * math.sqrt(variance)
    assert interval(table) == pytest.approx((mean - half, mean + half))


def test_one_direction_has_students_interval_over_seeds_and_one_seed_has_none():
    values = np.array([[2.0], [3.0], [7.0]])
    half = t.ppf(0.975, 2) * values.std(ddof=1) / math.sqrt(3)
    assert interval(values) == pytest.approx((4 - half, 4 + half))
    assert interval(values.T) is None
