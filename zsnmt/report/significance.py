"""Whether a difference is more than the luck of the test lines: paired bootstrap, from the resamples of score files."""

from collections.abc import Collection, Sequence
from operator import sub
from statistics import fmean, stdev

import numpy as np

from zsnmt.bootstrap import paired, unpacked
from zsnmt.languages import Direction, parse_direction
from zsnmt.metrics import RANGES
from zsnmt.report.measured import Measured

Resamples = np.ndarray | None  # None where a score file has none


def resamples(runs: Sequence[dict], kind: str, figure: str, directions: Collection[Direction] | None = None) -> Resamples:
    """A figure's mean over the directions of a kind, or over some of them, in each resample; over the seeds the mean."""
    found = [of_run(scores, kind, figure, directions) for scores in runs]
    return None if any(of_seed is None for of_seed in found) else np.mean(found, axis=0)


def of_run(scores: dict, kind: str, figure: str, directions: Collection[Direction] | None) -> Resamples:
    """The same for one run."""
    if directions is None:
        texts = [scores.get("resampled", {}).get(kind, {}).get(figure)]
    else:
        texts = [result.get("resampled", {}).get(figure) for result in scores["directions"]
                 if result["kind"] == kind and parse_direction(result["direction"]) in directions]  # fmt: skip
    if not texts or None in texts:
        return None
    return np.mean([unpacked(text, RANGES[figure]) for text in texts], axis=0)


def difference(
    figure: str,
    values: Sequence[float | None],
    others: Sequence[float | None],
    resampled: tuple[Resamples, Resamples],
    note: str = "",
    same_runs: bool = False,
) -> Measured | None:
    """The mean of some values minus that of others, with interval and p-value where both sides are resampled.

    Of the `same_runs`, as for two ways of translating, the deviation of the differences over the seeds is known too.
    """
    if not values or not others or None in values or None in others:
        return None
    real = fmean(values) - fmean(others)
    deviation = stdev(map(sub, values, others)) if same_runs and len(values) > 1 else None
    one, other = resampled
    interval, p = (None, None) if one is None or other is None else paired(one, other, real)
    return Measured(figure, real, deviation, interval, difference=True, p=p, note=note)
