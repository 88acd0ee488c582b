"""Tables of position encodings, P×d: what the measures ask of them, two to compare with, and their curves."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from zsnmt.errors import InputError


def check_encodings(encodings: ArrayLike) -> np.ndarray:
    """The encodings as a float64 array P×d, row p of position p; raises InputError for other shapes, numbers
    not finite and rows of zeros, which are the padding's.
    """
    encodings = np.asarray(encodings, dtype=np.float64)
    if encodings.ndim != 2 or not encodings.size:
        raise InputError(
            f"position encodings of shape {encodings.shape} cannot be analysed; give one vector a position, "
            f"P×d"
        )
    for wrong, what in (
        (~np.isfinite(encodings).all(axis=1), "has a number that is not finite"),
        (~encodings.any(axis=1), "is zero"),
    ):
        if wrong.any():
            raise InputError(
                f"row {wrong.argmax() + 1} of the position encodings, and {wrong.sum()} of {len(encodings)} "
                f"in all, {what}; give the rows of positions only, none of padding"
            )
    return encodings


def principal_coordinates(encodings: ArrayLike, dimensions: int) -> tuple[np.ndarray, float]:
    """The encodings P×d along their directions of largest size, P×`dimensions`, and the share of their sum of
    squares that these hold, 0–1; as they are where they have no more dimensions.

    Nothing is centred: an orthogonal map, which keeps the origin, of all dimensions is measured in these.
    Raises InputError for fewer than one dimension, and where `check_encodings` does.
    """
    encodings = check_encodings(encodings)
    if dimensions < 1:
        raise InputError(f"{dimensions} directions of position encodings are too few; give 1 or more")
    if encodings.shape[1] <= dimensions:
        return encodings, 1.0
    directions, sizes, _ = np.linalg.svd(encodings, full_matrices=False)
    kept = float(np.sum(sizes[:dimensions] ** 2) / np.sum(sizes**2))
    return directions[:, :dimensions] * sizes[:dimensions], kept


def sinusoids(positions: int, dimensions: int) -> np.ndarray:
    """Sinusoidal encodings, P×d in −1..1: sines and cosines in turn (Ravishankar and Søgaard 2021, section
    2).

    Raises InputError for fewer than one position, and for dimensions that are not pairs.
    """
    if positions < 1 or dimensions < 2 or dimensions % 2:
        raise InputError(
            f"{positions} sinusoidal encodings of {dimensions} dimensions are not possible; give at least "
            f"one, of an even number of dimensions"
        )
    frequencies = 10000.0 ** (-np.arange(0, dimensions, 2) / dimensions)
    angles = np.arange(positions)[:, None] * frequencies
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(positions, dimensions)


def gaussian_control(encodings: ArrayLike, seed: int = 0) -> np.ndarray:
    """Independent Gaussians of the encodings' shape, P×d: the level of no structure."""
    return np.random.default_rng(seed).standard_normal(check_encodings(encodings).shape)


def curves(
    encodings: ArrayLike, dimensions: Sequence[int] = (0, 4, 8, 16), places: int = 32, centred: bool = False
) -> np.ndarray:
    """Some dimensions of the encodings over the first places, D×places (Ravishankar and Søgaard 2021, figure
    4).

    `centred` is for tables over offsets −m..m, P = 2m+1, whose row m is offset 0: the curves are then from
    offset −places/2 to places/2 − 1 (figure 8). Dimensions count from 0.

    Raises InputError for dimensions or places that are not there, and for an even number of offsets.
    """
    encodings = check_encodings(encodings)
    rows, size = encodings.shape
    if not dimensions or not all(0 <= dimension < size for dimension in dimensions):
        raise InputError(
            f"there are no curves of the dimensions {list(dimensions)} in encodings of {size}; give numbers "
            f"from 0 to {size - 1}"
        )
    if centred and rows % 2 == 0:
        raise InputError(f"{rows} offsets have no middle; give a table of the offsets −m to m")
    if not 1 <= places <= rows:
        raise InputError(f"there are no curves over {places} places in {rows} encodings; give 1 to {rows}")
    start = rows // 2 - places // 2 if centred else 0
    return encodings[start : start + places, list(dimensions)].T.copy()


def peak_share(curve: ArrayLike) -> np.ndarray:
    """The share of a curve's power, or of each row's, at its strongest whole frequency, 0–1; the mean is left
    out.

    1 is a sine of a whole number of periods. A sine between two frequencies has .4 or more, noise over 32
    places about .2, and a constant NaN.
    """
    curve = np.asarray(curve, dtype=np.float64)
    power = np.abs(np.fft.rfft(curve - curve.mean(axis=-1, keepdims=True))[..., 1:]) ** 2
    with np.errstate(invalid="ignore"):
        return power.max(axis=-1) / power.sum(axis=-1)
