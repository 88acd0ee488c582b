"""How compositional position encodings are: does one orthogonal map shift every position by an offset?

For an offset k and a chunk A of consecutive positions, T = argmin ‖P_A − T P_{A+k}‖² over orthogonal T
(Schönemann 1966). The loss is that of T on another chunk A', relative: ‖P_{A'} − T P_{A'+k}‖² / ‖P_{A'}‖²,
and undivided, as Ravishankar and Søgaard (2021, section 5) print it. Sinusoids have such a map (their
appendix A), but a chunk determines it only in directions that the chunk spans: with short chunks the loss is
large for sinusoids too. Report the losses of `sinusoids` and of `gaussian_control` of the same shape beside
it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.linalg import orthogonal_procrustes

from zsnmt.analysis.position_encodings import check_encodings
from zsnmt.errors import InputError


@dataclass(frozen=True, eq=False)
class Compositionality:
    """The relative losses and the undivided ones, each K×runs from 0 up, for K `offsets`, from chunks of
    `chunk_sizes` (smallest, largest) positions.

    0 is a map that holds everywhere. Independent Gaussians have 2 where the two chunks have no position in
    common, and less where they have; the largest possible value for encodings of one length is 4. Undivided
    losses grow with the encodings and with the chunks: compare those of one table alone.
    """

    offsets: tuple[int, ...]
    losses: np.ndarray
    undivided: np.ndarray
    chunk_sizes: tuple[int, int]

    @property
    def mean(self) -> np.ndarray:
        """The mean loss of each offset, K."""
        return self.losses.mean(axis=1)

    @property
    def median(self) -> np.ndarray:
        """The median loss of each offset, K; unlike the mean it is not of the few chunks that determine T
        badly.
        """
        return np.median(self.losses, axis=1)


def compositionality(
    encodings: ArrayLike,
    offsets: Sequence[int] = range(1, 33),
    runs: int = 125,
    seed: int = 0,
    chunk_sizes: tuple[int, int] | None = None,
) -> Compositionality:
    """The losses of encodings P×d in a number of runs, each with chunks of a random size at two random
    places.

    The size is uniform in `chunk_sizes`, or in those of `default_chunk_sizes`. Chunks depend on the seed, the
    offset, the sizes and P alone, so tables of one shape are measured on the same ones. Rotation and scale of
    the encodings do not matter where chunks span the space. Rows that training never reached are noise: leave
    them out.

    Raises InputError for offsets, runs or sizes that the table does not allow, and where `check_encodings`
    does.
    """
    encodings, offsets = check_encodings(encodings), tuple(offsets)
    if not offsets or min(offsets) < 1 or runs < 1:
        raise InputError(
            f"{runs} runs over the offsets {list(offsets)} are not possible; give one run or more, and "
            f"offsets from 1 on"
        )
    room = len(encodings) - max(offsets)
    positions, dimensions = encodings.shape
    smallest, largest = chunk_sizes or default_chunk_sizes(positions, dimensions, max(offsets))
    if not 1 <= smallest <= largest < room:
        raise InputError(
            f"chunks of {smallest} to {largest} positions are not possible among {len(encodings)} shifted by "
            f"up to {max(offsets)}; give sizes from 1 to {room - 1}, the smaller first, or lower offsets"
        )
    if not np.isfinite(np.square(encodings).sum()):
        raise InputError("the encodings hold numbers that are too large to be multiplied; give other tables")
    found = [
        [
            loss(encodings, offset, *run)
            for run in draw_chunks(len(encodings) - offset, (smallest, largest), runs, seed=[seed, offset])
        ]
        for offset in offsets
    ]
    undivided, sizes = np.moveaxis(np.array(found), -1, 0)  # K×runs each
    return Compositionality(offsets, undivided / sizes, undivided, chunk_sizes=(smallest, largest))


def default_chunk_sizes(positions: int, dimensions: int, largest_offset: int) -> tuple[int, int]:
    """2d to 4d positions, but no more than 1/2 to 2/3 of the n − k that have a counterpart at the largest
    offset.

    Raises InputError for n − k < 4: two chunks of two positions or more are then not to be had.
    """
    room = positions - largest_offset
    if room < 4:
        raise InputError(
            f"{positions} position encodings are too few for an offset of {largest_offset}; give at least "
            f"{largest_offset + 4}, or lower offsets"
        )
    return min(2 * dimensions, room // 2), min(4 * dimensions, 2 * room // 3)


def draw_chunks(room: int, sizes: tuple[int, int], runs: int, seed: int | Sequence[int]) -> np.ndarray:
    """Runs × (size C, start of A, start of A' ≠ A): chunks inside `room` positions, of sizes below it."""
    generator = np.random.default_rng(seed)
    size = generator.integers(*sizes, runs, endpoint=True)
    starts = room - size + 1
    start = generator.integers(starts)
    other = (start + generator.integers(1, starts)) % starts
    return np.stack([size, start, other], axis=1)


def wilcoxon(one: ArrayLike, other: ArrayLike) -> float:
    """The two-sided p-value of Wilcoxon's signed-rank test on paired losses of two tables, or on their means
    or medians.

    Pairs are of the same offset and chunks, so of the same seed and shape. Runs whose chunks overlap are not
    independent: on all losses p is too small; on one median for each offset it is more honest.

    Raises InputError for losses of different shape, not finite, or that are all the same in both.
    """
    one, other = (np.asarray(losses, dtype=np.float64) for losses in (one, other))
    if one.shape != other.shape or not one.size:
        raise InputError(
            f"losses of shape {one.shape} and {other.shape} do not match; measure both with the same offsets "
            f"and runs"
        )
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("losses that are not finite have no rank; look for them in both tables")
    if (one == other).all():
        raise InputError(
            "the losses of both tables are the same, so no difference has a rank; give different tables"
        )
    return float(stats.wilcoxon(one.ravel(), other.ravel()).pvalue)


def loss(
    encodings: np.ndarray, offset: int, size: int, start: int, other: int
) -> tuple[np.floating, np.floating]:
    """The loss on the other chunk of the map from the first, and that chunk's sum of squares."""
    turn, _ = orthogonal_procrustes(
        encodings[start + offset : start + offset + size], encodings[start : start + size]
    )
    chunk = encodings[other : other + size]
    error = chunk - encodings[other + offset : other + offset + size] @ turn
    return np.sum(error**2), np.sum(chunk**2)
