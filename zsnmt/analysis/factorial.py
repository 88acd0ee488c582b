"""Effects of a full factorial design with two levels, over seeds as blocks and directions.

An effect is what the second level of a factor changes, on average over all other levels; that of two factors
together is by how much more than on average the one changes where the other has its second level (so half of
the difference between its effects at the two levels of the other).
"""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit


class Effect(NamedTuple):
    """An effect and its 95 % interval, None for one seed."""

    size: float
    interval: tuple[float, float] | None


def terms(factors: Sequence[str]) -> list[tuple[str, ...]]:
    """The main effects of some factors, then those of every two."""
    return [term for number in (1, 2) for term in combinations(factors, number)]


def signs(cells: Iterable[Sequence[str]], places: Sequence[int], high: Sequence[str]) -> np.ndarray:
    """−1 or +1 for each cell, given by its levels: the product over the factors at some places, +1 being the
    second level.
    """
    return np.array(
        [math.prod(1 if cell[place] == high[place] else -1 for place in places) for cell in cells]
    )


def effect(values: np.ndarray, cell_signs: np.ndarray) -> Effect:
    """The effect that the signs of the cells name, of values by cell, seed and direction (C×S×D).

    What adds to all cells of a seed, or of a direction, has no part in it.
    """
    contrasts = np.tensordot(cell_signs, values, axes=1) / (len(cell_signs) / 2)  # S×D
    return Effect(float(contrasts.mean()), interval(contrasts))


def quantile(freedom: float, share: float = 0.975) -> float:
    """Student's t below which a share (0–1) lies."""
    return float(stdtrit(freedom, share))


def interval(contrasts: np.ndarray) -> tuple[float, float] | None:
    """The 95 % interval of the mean of what differs by seed and direction (S×D), both drawn by chance.

    The variance of the mean is σ²_seed/S + σ²_direction/D + σ²_rest/(S·D), estimated from the mean squares of
    an analysis of variance, no part below zero; degrees of freedom are Satterthwaite's. With one direction it
    is Student's interval over the seeds. None for one seed.
    """
    seeds, directions = contrasts.shape
    if seeds < 2:
        return None
    mean = contrasts.mean()
    by_seed, by_direction = contrasts.mean(axis=1), contrasts.mean(axis=0)
    of_seeds = directions * by_seed.var(ddof=1)
    parts = [(of_seeds, seeds - 1)]  # mean squares that add up to the variance times S·D, and their freedom
    if directions > 1:
        rest = contrasts - by_seed[:, None] - by_direction + mean
        freedom = (seeds - 1) * (directions - 1)
        of_rest = float((rest**2).sum() / freedom)
        of_directions = seeds * by_direction.var(ddof=1)
        above = [
            (square, n)
            for square, n in ((of_seeds, seeds - 1), (of_directions, directions - 1))
            if square > of_rest
        ]
        parts = [*above, (of_rest * (1 - len(above)), freedom)]
    total = sum(square for square, _ in parts)
    if total == 0:
        return float(mean), float(mean)
    degrees = total**2 / sum(square**2 / n for square, n in parts)
    half = quantile(degrees) * math.sqrt(total / contrasts.size)
    return float(mean - half), float(mean + half)
