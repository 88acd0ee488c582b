"""What the measures of sentence vectors ask of their input: N×d numbers, row n of all languages one
sentence.
"""

import numpy as np
from numpy.typing import ArrayLike

from zsnmt.errors import InputError


def check_states(states: ArrayLike) -> np.ndarray:
    """The states as a float64 array N×d; raises InputError for other shapes, NaN and infinity."""
    states = np.asarray(states, dtype=np.float64)
    if states.ndim != 2 or not states.size:
        raise InputError(
            f"states of shape {states.shape} cannot be compared; give one vector a sentence, N×d"
        )
    wrong = ~np.isfinite(states).all(axis=1)
    if wrong.any():
        raise InputError(
            f"row {wrong.argmax() + 1} of the states, and {wrong.sum()} of {len(states)} in all, has a "
            "number that is not finite; look there for an empty sentence or an overflow of half precision"
        )
    return states


def centre(states: ArrayLike) -> np.ndarray:
    """The states N×d less their mean row, scaled to a largest value of 1 so that no product overflows.

    Raises InputError when all rows are the same, and when `check_states` does.
    """
    states = check_states(states)
    if (states == states[0]).all():
        raise InputError(f"all {len(states)} rows of the states are the same; give different sentences")
    centred = states - states.mean(axis=0)
    return centred / np.abs(centred).max()


def check_same_sentences(one: np.ndarray, other: np.ndarray) -> int:
    """The number of rows N of both arrays; raises InputError when they differ in it."""
    if len(one) != len(other):
        raise InputError(
            f"states of {len(one)} and of {len(other)} sentences cannot be compared; row n of both must be "
            f"the same sentence"
        )
    return len(one)
