"""How much of the variance of token states a label explains: a one-way analysis of variance."""

import numpy as np
from scipy.sparse import csr_array

from zsnmt.errors import InputError

ROWS_AT_A_TIME = 8192


def explained_variance(states: np.ndarray, classes: np.ndarray) -> float | None:
    """The share of the variance of states N×d that lies between the C classes of the rows, N integers.

    It is epsilon squared (Kelley 1935, https://doi.org/10.1073/pnas.21.9.554), with sums of squares over all
    d dimensions:

        1 - (within / (N - C)) / (total / (N - 1))

    At most 1, which states have that are a function of the class. For random labels its expectation is 0, so
    some values are negative. None where nothing can be said: there is one class, each row is a class of its
    own, or all states are the same. Memory holds a block of rows and the sums of the classes, C×d float64.
    Raises `InputError` for states that are not finite.
    """
    _, numbers, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    count, number_of_classes = len(states), len(sizes)
    if not 1 < number_of_classes < count:
        return None
    origin = np.asarray(states[0], np.float64)  # a state: those that are all the same are exactly 0 from it
    sums, squares = np.zeros((number_of_classes, states.shape[1])), 0.0
    for first in range(0, count, ROWS_AT_A_TIME):
        rows = np.asarray(states[first : first + ROWS_AT_A_TIME], np.float64) - origin
        if not np.isfinite(rows).all():
            raise InputError("a state is not finite; run the model in full precision")
        members = csr_array(
            (np.ones(len(rows)), (numbers[first : first + len(rows)], np.arange(len(rows)))),
            shape=(number_of_classes, len(rows)),
        )
        sums += members @ rows
        squares += float(np.square(rows).sum())
    within = squares - float((np.square(sums).sum(axis=1) / sizes).sum())
    total = squares - float(np.square(sums.sum(axis=0)).sum()) / count
    return 1 - within / (count - number_of_classes) * (count - 1) / total if total > 0 else None
