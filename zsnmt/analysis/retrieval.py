"""Sentence retrieval: is a sentence's translation its nearest neighbour among all sentences of the other
language?
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zsnmt.analysis.arrays import check_same_sentences, check_states
from zsnmt.errors import InputError

TIE = 1e-9  # similarities that differ by less are equal: a matrix product rounds equal vectors differently
BLOCK_NUMBERS = 2**23  # similarities held at a time, 64 MB


@dataclass(frozen=True)
class Retrieval:
    """The shares of sentences whose translation is nearest, 0–1, in both ways; chance is 1/N."""

    forward: float
    backward: float

    @property
    def mean(self) -> float:
        """The mean of both ways, 0–1."""
        return (self.forward + self.backward) / 2


def retrieval(one: ArrayLike, other: ArrayLike, csls_neighbours: int | None = None) -> Retrieval:
    """The accuracy of finding row n of the other language's states N×d by row n of the one's, and back.

    Raises InputError where `translation_ranks` does.
    """
    forward = translation_ranks(one, other, csls_neighbours)
    backward = translation_ranks(other, one, csls_neighbours)
    return Retrieval(float(np.mean(forward == 1)), float(np.mean(backward == 1)))


def translation_ranks(
    queries: ArrayLike, answers: ArrayLike, csls_neighbours: int | None = None
) -> np.ndarray:
    """For each of N queries the rank, 1–N, of its translation among the answers; 1 is the nearest. Both are
    N×d.

    Nearness is the cosine; with `csls_neighbours` it is CSLS (Conneau et al. 2018, section 2.3), which takes
    from an answer its mean cosine to so many nearest queries, so that no answer is near to all. Ties are
    lost: equal answers stand before the translation, so a sentence that occurs twice is not found. Accuracy
    among the first k is `(ranks <= k).mean()`, by chance k/N. Memory grows with N·d, not N².

    Raises InputError for states of different shape, not finite or with a zero row, and for a number of
    neighbours that is not from 1 to N.
    """
    queries, answers = unit_rows(queries), unit_rows(answers)
    sentences = check_same_sentences(queries, answers)
    if queries.shape != answers.shape:
        raise InputError(
            f"states of {queries.shape[1]} and {answers.shape[1]} dimensions have no cosine; take both "
            f"from one layer of one model"
        )
    crowding = 0 if csls_neighbours is None else mean_of_nearest(answers, queries, csls_neighbours)
    ranks = np.empty(sentences, dtype=np.int64)
    for rows, cosines in blocks(queries, answers):
        nearness = 2 * cosines - crowding
        right = nearness[np.arange(len(rows)), rows]
        ranks[rows] = np.count_nonzero(nearness >= right[:, None] - TIE, axis=1)
    return ranks


def mean_of_nearest(queries: np.ndarray, answers: np.ndarray, neighbours: int) -> np.ndarray:
    """The mean cosine of each query to its nearest answers, N."""
    if not 1 <= neighbours <= len(answers):
        raise InputError(
            f"CSLS over {neighbours} neighbours is not possible among {len(answers)} sentences; give a "
            f"number from 1 to {len(answers)}, such as 10"
        )
    return np.concatenate(
        [
            np.partition(cosines, -neighbours, axis=1)[:, -neighbours:].mean(axis=1)
            for _, cosines in blocks(queries, answers)
        ]
    )


def blocks(queries: np.ndarray, answers: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Numbers of some queries, B, and their cosines to all answers, B×N; block by block."""
    size = max(1, BLOCK_NUMBERS // len(answers))
    for start in range(0, len(queries), size):
        block = queries[start : start + size]
        yield np.arange(start, start + len(block)), block @ answers.T


def unit_rows(states: ArrayLike) -> np.ndarray:
    """The states with rows of length 1; raises InputError for a row of zeros."""
    states = check_states(states)
    largest = np.abs(states).max(axis=1, keepdims=True)
    if not largest.all():
        raise InputError(
            f"row {largest.argmin() + 1} of the states is zero and has no direction; leave that sentence out "
            f"of both languages"
        )
    states = states / largest  # so that no square overflows
    return states / np.linalg.norm(states, axis=1, keepdims=True)
