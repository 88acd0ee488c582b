"""The Procrustes losses of a table of positions as score files have them."""

from collections.abc import Sequence

import numpy as np

from zsnmt.analysis.procrustes import compositionality

OFFSETS = 32  # at most


def procrustes(table: np.ndarray, offsets: Sequence[int]) -> dict:
    """The losses of a table (P×d) by offset: mean and median of the relative ones, and the mean of those that
    are not divided.
    """
    found = compositionality(table, offsets)
    return {
        "offsets": [*offsets],
        "mean": round_values(found.mean),
        "median": round_values(found.median),
        "undivided": round_values(found.undivided.mean(axis=1)),
    }


def round_values(values: np.ndarray) -> list:
    """The values, of any shape, as lists of numbers that are short to write."""
    return np.round(values.astype(np.float64), 5).tolist()
