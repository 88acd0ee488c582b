"""The Procrustes losses of a table of positions as score files have them."""

from collections.abc import Sequence

import numpy as np

from zsnmt.analysis.procrustes import compositionality

OFFSETS = 32  # at most


def procrustes(table: np.ndarray, offsets: Sequence[int]) -> dict:
    """The losses of a table by offset: mean and median, and the mean of those that are not divided."""
    found = compositionality(table, offsets)
    return {
        "offsets": [*offsets],
        "mean": rounded(found.mean),
        "median": rounded(found.median),
        "undivided": rounded(found.undivided.mean(axis=1)),
    }


def rounded(values: np.ndarray) -> list:
    """The values as lists of numbers that are short to write."""
    return np.round(values.astype(np.float64), 5).tolist()
