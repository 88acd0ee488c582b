"""Singular vector canonical correlation analysis of sentence vectors (SVCCA; Raghu et al. 2017).

How similar are the vectors that an encoder gives to the same N sentences in two languages? Centre them,
keep the singular directions that hold most of the variance, and correlate what is kept. The kept left
singular vectors U are orthonormal, so the canonical correlations are the singular values of U_xᵀ U_y:
no covariance is inverted.

The value depends on N and on the number of directions far more than on the language. Report it beside
`independent_mean` (same kept directions) or `random_baseline` (same d, as Liu et al. 2021, Table 9).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from zsnmt.analysis.arrays import centre, check_same_sentences
from zsnmt.errors import InputError

RANK_TOLERANCE = 1e-10  # of the largest singular value; below it lies the rounding of float64
QUADRATURE_POINTS = 4096


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The kept left singular vectors of one language's states, N×k with orthonormal columns, and the share
    asked for.
    """

    directions: np.ndarray
    variance: float


@dataclass(frozen=True, eq=False)
class Svcca:
    """The canonical correlations of two languages, falling, 0–1: min(k, k') for `kept` = (k, k') of N
    `sentences`.
    """

    correlations: np.ndarray
    kept: tuple[int, int]
    sentences: int

    @property
    def mean(self) -> float:
        """The plain mean of the correlations, 0–1; this is what is called the SVCCA score."""
        return float(self.correlations.mean())


@dataclass(frozen=True)
class RandomBaseline:
    """The mean SVCCA score of independent Gaussians over the repetitions, and the standard deviation of
    one.
    """

    mean: float
    deviation: float


def decompose(states: ArrayLike, variance: float = 0.99) -> Decomposition:
    """The fewest singular directions of states N×d that hold a share of their variance (squared singular
    values).

    A share of 1 keeps all up to the numerical rank. Raises InputError for a share outside (0, 1], states
    that are not N×d or not finite, and rows that are all the same.
    """
    if not 0 < variance <= 1:
        raise InputError(
            f"a share of {variance} of the variance cannot be kept; give one above 0 and up to 1, such "
            f"as 0.99"
        )
    left, values, _ = np.linalg.svd(centre(states), full_matrices=False)
    # Summed from the smallest on, so that a share of 1 does not lose them to rounding.
    held_from_here_on = np.cumsum(values[::-1] ** 2)[::-1]
    needed = held_from_here_on > (1 - variance) * held_from_here_on[0]
    kept = np.count_nonzero(needed & (values > RANK_TOLERANCE * values[0]))
    return Decomposition(left[:, :kept].copy(), variance)


def svcca(one: Decomposition, other: Decomposition) -> Svcca:
    """The similarity of two languages' states; symmetric, and 1 for states equal up to rotation, scale and
    shift.

    Raises InputError for different N, and for k + k' ≥ N: in the N - 1 dimensions that centring leaves, two
    such subspaces meet whatever the states are, so some correlations are 1 for nothing.
    """
    sentences = check_same_sentences(one.directions, other.directions)
    kept = one.directions.shape[1], other.directions.shape[1]
    if sum(kept) >= sentences:
        raise InputError(
            f"{sentences} sentences are too few for SVCCA with {kept[0]} and {kept[1]} kept directions; "
            f"give more than {sum(kept)}, or keep a lower share of the variance than "
            f"{max(one.variance, other.variance)}"
        )
    correlations = np.linalg.svd(one.directions.T @ other.directions, compute_uv=False)
    return Svcca(correlations.clip(0, 1), kept, sentences)


def svcca_pairs(decompositions: Mapping[str, Decomposition]) -> dict[tuple[str, str], Svcca]:
    """`svcca` of all pairs of languages, in the mapping's order; raises InputError for fewer than two
    languages.
    """
    if len(decompositions) < 2:
        raise InputError(f"similarity needs two languages or more, not {', '.join(decompositions) or 'none'}")
    return {
        (one, other): svcca(decompositions[one], decompositions[other])
        for one, other in combinations(decompositions, 2)
    }


def random_baseline(
    sentences: int,
    dimensions: tuple[int, int],
    generator: np.random.Generator,
    variance: float = 0.99,
    repetitions: int = 5,
) -> RandomBaseline:
    """The score of independent Gaussians N×d and N×d', treated as states: what "no similarity" looks like.

    It is far from 0: .576 for N=1147 and d=d'=512. Real states keep fewer directions than Gaussians, and
    would by chance have the lower `independent_mean`. Raises InputError for fewer than two repetitions, and
    where `svcca` does.
    """
    if repetitions < 2:
        raise InputError(f"{repetitions} repetitions have no deviation; ask for two or more")
    means = [
        svcca(
            *(decompose(generator.standard_normal((sentences, size)), variance) for size in dimensions)
        ).mean
        for _ in range(repetitions)
    ]
    return RandomBaseline(float(np.mean(means)), float(np.std(means, ddof=1)))


def independent_mean(sentences: int, kept: tuple[int, int]) -> float:
    """The expected score of independent states with as many kept directions, 0–1, without drawing any.

    It is the mean of √λ under Wachter's (1980) law, the limit of the squared canonical correlations λ of two
    random subspaces of N - 1 dimensions: density √((b-λ)(λ-a)) / (2π p λ(1-λ)) from a to b, with p ≤ q the
    kept shares of N - 1. The states may have any covariance. For a few directions it is some .01 too high,
    from fifty on about .001. Raises InputError for k + k' ≥ N.
    """
    if sum(kept) >= sentences or min(kept) < 1:
        raise InputError(
            f"{kept[0]} and {kept[1]} kept directions of {sentences} sentences: they must be at least 1, "
            f"and in sum fewer than the sentences"
        )
    p, q = (size / (sentences - 1) for size in sorted(kept))
    middle = p + q - 2 * p * q
    half = 2 * np.sqrt(p * q * (1 - p) * (1 - q))
    # λ = middle + half·cos θ turns the root into half·sin θ; the midpoint rule leaves out the ends of the
    # range
    angles = (np.arange(QUADRATURE_POINTS) + 0.5) * np.pi / QUADRATURE_POINTS
    squares = middle + half * np.cos(angles)
    return float(np.mean((half * np.sin(angles)) ** 2 / (np.sqrt(squares) * (1 - squares))) / (2 * p))
