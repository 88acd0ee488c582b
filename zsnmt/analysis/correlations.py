"""The four kinds of terms in the first layer's attention: words and positions as queries and as keys.

A logit (w_i + p_i)W^Q ((w_j + p_j)W^K)ᵀ / √d is the sum of word–word, word–position, position–word and
position–position terms (Ke et al. 2021, section 3.1 and figure 2). Biases are left out, as there, and so is a
normalisation of the sum w + p, which does not split: values compare within a model, and between models of
equal build.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zsnmt.errors import InputError


@dataclass(frozen=True)
class Banding:
    """How much of a heat map's variance is in bands, 0–1: what its columns' means explain, and what its rows'
    do.

    The rest of 1 is what only the cell explains. Independent cells, V rows and P columns, have about 1/V for
    columns and 1/P for rows. `size` is the root mean square of the values: bands of values near 0 mean
    little.
    """

    columns: float
    rows: float
    size: float


def correlations(
    queries: ArrayLike,
    keys: ArrayLike,
    query_weight: ArrayLike,
    key_weight: ArrayLike,
    heads: int = 1,
    cosine: bool = False,
) -> np.ndarray:
    """The logits of queries N×d and keys M×d, N×M: (q W_Qᵀ)(k W_Kᵀ)ᵀ / √(d/heads) in each head, the mean over
    heads.

    Weights are d×d as of torch's linear layers, outputs × inputs. Words as queries and positions as keys give
    the heat map of Ravishankar and Søgaard (2021, figure 6), words on y and positions on x. Positions as
    queries and words as keys are another term, P×V. With `cosine` projected vectors are scaled to length 1 in
    each head: values are then −1..1, and of independent vectors about ±1/√d.

    Raises InputError for shapes that do not fit, numbers not finite and, with `cosine`, a projection that is
    zero.
    """
    queries, keys, query_weight, key_weight = (
        check_rows(array) for array in (queries, keys, query_weight, key_weight)
    )
    size = queries.shape[1]
    if keys.shape[1] != size or not query_weight.shape == key_weight.shape == (size, size):
        raise InputError(
            f"queries {queries.shape}, keys {keys.shape} and weights {query_weight.shape} and "
            f"{key_weight.shape} do not fit; give N×d, M×d and twice d×d"
        )
    if heads < 1 or size % heads:
        raise InputError(
            f"{size} dimensions do not divide into {heads} heads; give the model's number of heads"
        )
    projected = [
        (rows @ weight.T).reshape(len(rows), heads, -1)  # N×H×d/H
        for rows, weight in ((queries, query_weight), (keys, key_weight))
    ]
    if cosine:
        projected = [unit(rows) for rows in projected]
    q, k = (rows.reshape(len(rows), -1) for rows in projected)  # N×d, M×d: their product sums over heads
    return q @ k.T / (heads if cosine else heads * np.sqrt(size / heads))


def band_shares(values: ArrayLike) -> Banding:
    """The shares of a heat map's variance in its columns and in its rows; positions on x are columns, words
    on y rows.

    Raises InputError for values that are not V×P with V, P ≥ 2, not finite, or all the same.
    """
    values = check_rows(values)
    if min(values.shape) < 2 or (values == values[0, 0]).all():
        raise InputError(
            f"a heat map of shape {values.shape} has no bands; give two rows and columns or more, of "
            f"different values"
        )
    variance = values.var()
    return Banding(
        float(values.mean(axis=0).var() / variance),
        float(values.mean(axis=1).var() / variance),
        float(np.sqrt(np.mean(values**2))),
    )


def check_rows(array: ArrayLike) -> np.ndarray:
    """The array as float64, if it is rows × columns of finite numbers."""
    array = np.asarray(array, dtype=np.float64)
    if array.ndim != 2 or not array.size or not np.isfinite(array).all():
        raise InputError(
            f"an array of shape {array.shape} has no correlations; give rows × columns of finite numbers"
        )
    return array


def unit(projected: np.ndarray) -> np.ndarray:
    """Projections N×H×d scaled to length 1."""
    lengths = np.linalg.norm(projected, axis=-1, keepdims=True)
    if not lengths.all():
        raise InputError(
            "a projected vector is zero and has no cosine; leave that row out, or ask for logits"
        )
    return projected / lengths
