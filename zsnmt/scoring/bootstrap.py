"""How far a score would move on another test set: bootstrap resampling of the test lines (Koehn 2004).

Draws and arithmetic are sacreBLEU's (`sacrebleu.significance`), so that an interval of one direction is the
one it gives; p-values are those of a two-sided test (`paired_test`). Every system and every direction whose
test set has as many lines gets the same draws: two score files of one test set are paired without the
translations, and so are means over the directions of a multiway set.
"""

import base64
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import estimate_ci
from sacrebleu.utils import my_log

from zsnmt.scoring.options import Scoring

SAMPLES = Scoring.bootstrap_samples
SEED = 12345  # sacreBLEU's default
BETA = CHRF.BETA
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
    """BLEU or chrF (0–100) of each resample, from the sufficient statistics of each line (lines ×
    statistics).
    """
    sums = draws(len(statistics), samples) @ np.array(statistics, dtype=np.float32)
    return bleu_scores(sums) if isinstance(metric, BLEU) else chrf_scores(sums)


def bleu_scores(sums: np.ndarray) -> np.ndarray:
    """What sacreBLEU's `BLEU()` gives for each row (0–100), to the last bit, but faster. `sums` is samples ×
    statistics: the lengths of output and reference, the matches and the n-grams of each order.
    """
    matches, totals = np.split(sums[:, 2:], 2, axis=1)
    missed = matches == 0
    halvings = np.float32(2) ** np.cumsum(missed, axis=1, dtype=np.float32)  # smoothing `exp`
    with np.errstate(divide="ignore", invalid="ignore"):  # where there are no n-grams
        smoothed = np.where(missed, 100 / (halvings * totals), 100 * matches / totals)
    precisions = np.where(totals > 0, smoothed, 0).tolist()
    means = [math.exp(sum(map(my_log, of_orders)) / len(of_orders)) for of_orders in precisions]
    lengths = sums[:, :2].tolist()
    return np.where(
        missed.all(axis=1), 0.0, [brevity_penalty(*of) * mean for of, mean in zip(lengths, means)]
    )


def brevity_penalty(length: float, reference: float) -> float:
    """The factor (0–1) of BLEU for an output that is shorter than its reference."""
    if length >= reference:
        return 1.0
    return math.exp(1 - reference / length) if length else 0.0


def chrf_scores(sums: np.ndarray) -> np.ndarray:
    """What sacreBLEU's `CHRF()` gives for each row (0–100), to the last bit, but faster. `sums` is samples ×
    statistics: the n-grams of output and reference and the matches of each order.
    """
    *counts, matches = np.moveaxis(sums.reshape(len(sums), -1, 3), 2, 0)
    orders = np.logical_and(*(count > 0 for count in counts))
    number = np.maximum(orders.sum(axis=1), 1).astype(np.float32)
    precision, recall = (
        np.cumsum(np.divide(matches, count, out=np.zeros_like(count), where=orders), axis=1)[:, -1] / number
        for count in counts
    )
    weighted = BETA**2 * precision + recall
    scores = 100 * ((1 + BETA**2) * precision * recall / np.where(weighted > 0, weighted, 1))
    return scores if scores.all() else scores.astype(np.float64)  # as sacreBLEU's zeros make them


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
    """A difference of two scores on the same lines: 95 % interval, and the p-value (0–1) of the paired
    bootstrap test.
    """

    interval: tuple[float, ...]
    p: float


def paired_test(scores: np.ndarray, others: np.ndarray, real: float, *, top: float = 0.0) -> Difference:
    """Whether `scores` differ from `others`, resampled alike; `real` is the difference on the test set
    itself; `top`, of scores that were kept, that of their range (`pack`).

    p is the share of draws that are at least as far from their mean as the difference is from 0 (Efron and
    Tibshirani 1993, section 16.4). sacreBLEU takes absolute values before it subtracts the mean: where two
    systems do not differ, its p is below 0.05 twice as often as that. Where the difference and the draws'
    deviation are both less than a step of kept scores, most draws are rounded to no difference, and p is 1.
    """
    differences = scores - others
    rounded = max(abs(real), differences.std()) < top / STEPS
    chance = np.count_nonzero(rounded | (np.abs(differences - differences.mean()) >= abs(real)))
    return Difference(tuple(interval(differences)), (chance + 1) / (len(scores) + 1))


def pack(scores: np.ndarray, top: float) -> str:
    """Resampled scores between 0 and `top` as text for a score file: 16-bit steps of a 10,000th of the range,
    in base64.
    """
    return base64.b64encode(np.rint(scores / top * STEPS).astype("<u2").tobytes()).decode("ascii")


def unpack(text: str, top: float) -> np.ndarray:
    """What `pack` wrote, up to half a step."""
    steps = np.frombuffer(base64.b64decode(text), dtype="<u2")
    return steps.astype(np.float64) * top / STEPS
