"""Whether a difference is more than luck: of the test lines, by paired bootstrap from the resamples of score files; of the seeds."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from operator import sub
from statistics import fmean, stdev

import numpy as np

from zsnmt.languages import Direction, parse_direction
from zsnmt.report.scores import mean_over_directions
from zsnmt.report.table import Cell, Measured, joined
from zsnmt.scoring.bootstrap import paired, unpacked
from zsnmt.scoring.metrics import RANGES

Resamples = np.ndarray | None  # None where a score file has none
OfKind = tuple[Sequence[dict], str]  # the runs of a system, and the kind of their results

INSIDE, ONE_SEED = "inside the seed noise", "one seed"  # notes of a gain
SEED_NOTES = {
    INSIDE: "no more than 2 √(s₁² + s₂²), with the deviations over the seeds of the two systems",
    ONE_SEED: "the seed noise is not known",
}


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
    return Measured(figure, real, deviation, interval, difference=True, p=p)


def mean_difference(
    figure: str, one: OfKind, other: OfKind, directions: Collection[Direction] | None = None, same_runs: bool = False
) -> Measured | None:
    """The difference of two means over the directions of a kind, or over some that both were scored in; else None."""
    values, others = ([mean_over_directions(scores, kind, figure, directions) for scores in runs] for runs, kind in (one, other))
    resampled = resamples(*one, figure, directions), resamples(*other, figure, directions)
    return difference(figure, values, others, resampled, same_runs=same_runs)


def minus_pivot(runs: Sequence[dict], directions: Collection[Direction]) -> Measured | None:
    """BLEU of a system in some directions, zero-shot minus through the pivot; None unless all were scored in both ways."""
    return mean_difference("bleu", (runs, "zero_shot"), (runs, "pivot"), directions, same_runs=True)


def gain(
    runs: Sequence[dict], base: Sequence[dict], kind: str, figure: str, directions: Collection[Direction] | None = None
) -> Measured | None:
    """The difference of two systems' means, noted where seeds do not bear it out."""
    if not (found := mean_difference(figure, (runs, kind), (base, kind), directions)):
        return None
    inside = inside_seed_noise(*([mean_over_directions(scores, kind, figure, directions) for scores in side] for side in (runs, base)))
    return replace(found, note={None: ONE_SEED, True: INSIDE, False: ""}[inside])


def inside_seed_noise(values: Sequence[float], others: Sequence[float]) -> bool | None:
    """Whether two systems' means differ by no more than two deviations of a difference of two runs, √(s² + s²).

    None with a single seed on a side: its deviation is not known.
    """
    if min(len(values), len(others)) < 2:
        return None
    return abs(fmean(values) - fmean(others)) <= 2 * math.hypot(stdev(values), stdev(others))


def seed_note(rows: Iterable[Sequence[Cell]]) -> str:
    """What the notes of gains say, where there are any."""
    noted = {cell.note for row in rows for cell in row if isinstance(cell, Measured)}
    return joined(f"{note[0].upper()}{note[1:]}: {said}." for note, said in SEED_NOTES.items() if note in noted)
