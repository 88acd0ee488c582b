"""How well a figure ranks lines by their quality: Spearman's correlation, resampled like every score."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from zsnmt.scoring.bootstrap import draws


def spearman(figures: Sequence[float], qualities: Sequence[float]) -> float:
    """The correlation of two rankings of the same lines (−1…1; 0 where one of them ranks nothing)."""
    return float(correlations(np.array([figures]), np.array([qualities]))[0])


def resampled_spearman(figures: Sequence[float], qualities: Sequence[float], samples: int) -> np.ndarray:
    """The same in each bootstrap resample of the lines, which are those of `zsnmt.scoring.bootstrap`."""
    counts = draws(len(figures), samples).astype(int)
    places = np.tile(np.arange(len(figures)), samples).repeat(counts.ravel()).reshape(counts.shape)
    return correlations(np.array(figures)[places], np.array(qualities)[places])


def correlations(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Spearman's correlation of each row of two arrays (rows × lines)."""
    one, other = (rankdata(values, axis=1) for values in (first, second))
    one, other = (ranks - ranks.mean(axis=1, keepdims=True) for ranks in (one, other))
    size = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    return np.divide((one * other).sum(axis=1), size, out=np.zeros(len(one)), where=size > 0)
