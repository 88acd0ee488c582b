"""How far a score would move on another test set: bootstrap resampling of the test lines (Koehn 2004).

Draws, arithmetic and test are sacreBLEU's (`sacrebleu.significance`), so that an interval or p-value of one
direction is the one it gives. Every system and every direction whose test set has as many lines gets the same
draws: two score files of one test set are paired without the translations, and so are means over the
directions of a multiway set.
"""

import base64
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import estimate_ci

from zsnmt.errors import InputError
from zsnmt.scoring.options import Scoring

SAMPLES = Scoring.bootstrap_samples
SEED = 12345  # sacreBLEU's default
STEPS = 10_000  # a kept score is rounded to this part of its range


def signature(samples: int = SAMPLES) -> str:
    """What intervals and p-values depend on."""
    return f"bs:{samples}|seed:{SEED}"


@lru_cache(maxsize=4)
def draws(lines: int, samples: int = SAMPLES) -> np.ndarray:
    """How often each of the lines is in each resample: samples × lines."""
    chosen = np.random.default_rng(SEED).choice(lines, size=(samples, lines), replace=True)
    counts = np.zeros((samples, lines), dtype=np.float32)
    np.add.at(counts, (np.arange(samples)[:, None], chosen), 1)
    return counts


def resampled_scores(
    metric: Metric, statistics: Sequence[Sequence[float]], samples: int = SAMPLES
) -> np.ndarray:
    """The score of each resample, from the sufficient statistics of each line (lines × statistics)."""
    sums = draws(len(statistics), samples) @ np.array(statistics, dtype=np.float32)
    return np.array([metric._compute_score_from_stats(of_sample).score for of_sample in sums])


def resampled_rates(flags: Sequence[bool], samples: int = SAMPLES) -> np.ndarray:
    """The share (0–1) of true lines in each resample."""
    return draws(len(flags), samples) @ np.array(flags, dtype=np.float32) / len(flags)


def interval(scores: np.ndarray) -> list[float]:
    """The 95 % confidence interval of resampled scores: their mean, and half the width of what is between 2.5
    and 97.5 %.
    """
    mean, half = estimate_ci(scores)
    return [float(mean - half), float(mean + half)]


class Difference(NamedTuple):
    """A difference of two scores on the same lines: 95 % interval, and the p-value of the paired bootstrap
    test.
    """

    interval: tuple[float, ...]
    p: float


def paired_test(scores: np.ndarray, others: np.ndarray, real: float) -> Difference:
    """Whether `scores` differ from `others`, resampled alike; `real` is the difference on the test set
    itself.
    """
    differences = scores - others
    apart = np.abs(differences)
    chance = np.count_nonzero(
        apart - apart.mean() >= abs(real)
    )  # sacreBLEU's >, which calls equal systems different
    return Difference(tuple(interval(differences)), (chance + 1) / (len(scores) + 1))


def pack(scores: np.ndarray, top: float) -> str:
    """Resampled scores between 0 and `top` as text for a score file: 16-bit steps of a 10,000th of the range,
    in base64.
    """
    return base64.b64encode(np.rint(scores / top * STEPS).astype("<u2").tobytes()).decode("ascii")


def unpack(text: str, top: float) -> np.ndarray:
    """What `pack` wrote, up to half a step; `InputError` for what it did not write."""
    try:
        steps = np.frombuffer(base64.b64decode(text, validate=True), dtype="<u2")
    except ValueError:
        steps = np.empty(0)
    if len(steps) < 2:
        raise InputError("a score file holds damaged bootstrap samples; score its run again")
    return steps.astype(np.float64) * top / STEPS
