"""Whether a difference is more than luck: of the test lines, by paired bootstrap from the resamples of score
files; of the seeds.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from operator import sub
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from zsnmt.languages import Direction
from zsnmt.report.notes import have_one_pivot
from zsnmt.report.scores import (
    AnyRunResult,
    Column,
    WayDifference,
    known_seeds,
    mean_over_directions,
    system_kind,
)
from zsnmt.report.table import Cell, Measured, complete, join_sentences, seed_cell
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import PIVOT, Way
from zsnmt.scoring.bootstrap import paired_test, unpack
from zsnmt.scoring.figures import FIGURES, MAIN

Resamples = np.ndarray | None  # None where a score file has none

INSIDE, ONE_SEED = "inside the seed noise", "one seed"  # notes of a gain
SEED_NOTES = {
    INSIDE: "no more than 2 √(s₁² + s₂²), with the deviations over the seeds of the two systems",
    ONE_SEED: "the seed noise is not known",
}


class Side(NamedTuple):
    """One side of a difference: the runs of a system, and which figure of them.

    It is not known through the pivot where the runs leave that to several systems, or some to another one
    and some do not.
    """

    runs: Sequence[Scores]
    column: Column

    @property
    def of_two_pivots(self) -> bool:
        """Whether the column is of the pivot, and the runs have more than one."""
        return self.column.way == PIVOT and not have_one_pivot(self.runs)

    def means(self, directions: Collection[Direction] | None = None) -> list[float | None]:
        """The mean of each run over the directions of the column, or over some of them."""
        if self.of_two_pivots:
            return [None] * len(self.runs)
        return [mean_over_directions(scores, self.column, directions) for scores in self.runs]

    def resamples(self, directions: Collection[Direction] | None = None) -> Resamples:
        """The same mean in each resample; over the seeds the mean."""
        if self.of_two_pivots:
            return None
        found = complete([resamples(scores, self.column, directions) for scores in self.runs])
        return None if found is None else np.mean(found, axis=0)


def mean_measured(runs: Sequence[Scores], column: Column) -> Measured | None:
    """A figure of a system: its mean over the directions of a kind, over the seeds."""
    mean = runs[0].means.get((column.kind, column.way))
    return seed_cell(column.figure, Side(runs, column).means(), mean and mean.intervals.get(column.figure))


class Part(NamedTuple):
    """Some directions of the runs of a system, decoded in a way, whatever kinds they are to it."""

    runs: Sequence[Scores]
    way: Way
    directions: Collection[Direction]

    def sides(self, figure: str) -> list[tuple[Side, list[Direction]]]:
        """A figure by kind, with the directions of that kind."""
        first = self.runs[0]
        columns = [Column(kind, way, figure) for kind, way in first.groups if way == self.way]
        found = [
            (column, [each for each in first.select(column.kind, self.way) if each in self.directions])
            for column in columns
        ]
        return [(Side(self.runs, column), directions) for column, directions in found if directions]

    @property
    def covered(self) -> int:
        """How many of the directions were decoded so."""
        return sum(len(of_kind) for _, of_kind in self.sides(MAIN))

    def means(self, figure: str) -> list[float | None]:
        """The mean of each run over those of the directions that were decoded so."""
        sides = self.sides(figure)
        of_sides = [side.means(directions) for side, directions in sides]
        weights = [len(directions) for _, directions in sides]
        of_runs = [complete(of_run) for of_run in zip(*of_sides, strict=True)]
        return [float(np.average(of_run, weights=weights)) if of_run else None for of_run in of_runs]

    def resamples(self, figure: str) -> Resamples:
        """The same mean in each resample; over the seeds the mean."""
        sides = self.sides(figure)
        found = complete([side.resamples(directions) for side, directions in sides])
        weights = [len(directions) for _, directions in sides]
        return np.average(found, axis=0, weights=weights) if found else None

    def measured(self, figure: str) -> Measured | None:
        """The mean over the directions, over the seeds."""
        sides = self.sides(figure)
        if len(sides) == 1:
            ((side, directions),) = sides
            if len(directions) == len(self.runs[0].select(side.column.kind, self.way)):
                return mean_measured(self.runs, side.column)  # of which intervals are known
        return seed_cell(figure, self.means(figure))


def mean_of_part(runs: Sequence[Scores], way: Way, figure: str, *, with_pivot: bool) -> Measured | None:
    """A figure of a system: its mean over the directions with the pivot, or over all others, whatever kind
    they are to it. It is noted where not all of them were decoded so, as supervised ones through the pivot.
    """
    pivot = runs[0].pivot
    directions = {direction for direction in runs[0].kinds if (pivot in direction) == with_pivot}
    part = Part(runs, way, directions)
    found = part.measured(figure)
    return found and replace(found, note=part_note(part.covered, len(directions)))


def part_note(number: int, wanted: int) -> str:
    """How many directions a figure is of, where that is not all."""
    return f"{number} of {wanted} directions" if number < wanted else ""


def resamples(scores: Scores, column: Column, directions: Collection[Direction] | None = None) -> Resamples:
    """The mean of a run over the directions of a column, or over some of them, in each resample.

    Kept scores have none of single directions: there it is known of all together alone.
    """
    results = scores.select(column.kind, column.way)
    there = results.keys() if directions is None else results.keys() & {*directions}
    in_order = filter(there.__contains__, results) if len(there) > 1 else there
    texts = [results[direction].uncertainty.resampled.get(column.figure) for direction in in_order]
    if directions is None or len(there) == len(results) and complete(texts) is None:
        mean = scores.means.get((column.kind, column.way))
        texts = [mean.resampled.get(column.figure) if mean else None]
    known, top = complete(texts), FIGURES[column.figure].top
    if not known or top is None:
        return None
    return np.mean([unpack(text, top) for text in known], axis=0)


def difference(
    figure: str,
    values: Sequence[float | None],
    others: Sequence[float | None],
    resampled: tuple[Resamples, Resamples],
    same_runs: bool = False,
) -> Measured | None:
    """The mean of some values minus that of others, with interval and p-value where both sides are resampled.

    Of the `same_runs`, as for two ways of translating, the deviation of the differences over the seeds is
    known too.
    """
    known, subtracted = complete(values), complete(others)
    if not known or not subtracted:
        return None
    real = fmean(known) - fmean(subtracted)
    deviation = stdev(map(sub, known, subtracted)) if same_runs and len(known) > 1 else None
    (one, other), interval, p = resampled, None, None
    if one is not None and other is not None:
        interval, p = paired_test(one, other, real, top=FIGURES[figure].top or 0.0)
    return Measured(figure, real, deviation, interval=interval, difference=True, p=p)


def mean_difference(
    one: Side, other: Side, directions: Collection[Direction] | None = None, same_runs: bool = False
) -> Measured | None:
    """The difference of two means over the directions of a kind, or over some that both were scored in; else
    None.
    """
    resampled = one.resamples(directions), other.resamples(directions)
    return difference(
        one.column.figure,
        one.means(directions),
        other.means(directions),
        resampled=resampled,
        same_runs=same_runs,
    )


def difference_of_ways(
    runs: Sequence[Scores], ways: WayDifference, directions: Collection[Direction] | None = None
) -> Measured | None:
    """The difference of two ways of decoding, over those of some directions that were decoded in both, by
    default of all that were decoded in either. It is noted where that is not all of them, and None where it
    is none.
    """
    one, other = (Side(runs, column) for column in ways.sides)
    of_one, of_other = (runs[0].select(*side.column[:2]) for side in (one, other))
    wanted = {**of_one, **of_other} if directions is None else directions
    both = [direction for direction in wanted if direction in of_one and direction in of_other]
    if not both:
        return None
    found = mean_difference(one, other, both, same_runs=True)
    return found and replace(found, note=part_note(len(both), len(wanted)))


def of_same_seeds(
    runs: Sequence[AnyRunResult], base: Sequence[AnyRunResult]
) -> tuple[Sequence[AnyRunResult], Sequence[AnyRunResult]]:
    """What is of the runs of two systems that have the same seeds, so that a seed of one alone does not tell
    in their difference; all, where they have no seed in common.
    """
    both = {*known_seeds(runs)} & {*known_seeds(base)}
    if not both:
        return runs, base
    one, other = ([run for run in side if run.seed in both] for side in (runs, base))
    return one, other


def same_seeds_note(base_name: str, systems: Iterable[Sequence[Scores]]) -> str:
    """Which seeds differences from the first of some systems are over, where not all have the same."""
    base, *others = ({*known_seeds(runs)} for runs in systems)
    if all(seeds == base for seeds in others):
        return ""
    apart = "" if all(seeds & base for seeds in others) else "; where they share none, over all of both"
    return f"A difference is over the seeds that both {base_name} and the other system have{apart}."


def gain(
    runs: Sequence[Scores],
    base: Sequence[Scores],
    column: Column,
    directions: Collection[Direction] | None = None,
) -> Measured | None:
    """The difference of two systems' means over the seeds that both have, noted where seeds do not bear it
    out.

    It is over the same directions of both, whatever their kind to the base; None where they are of several
    kinds to it.
    """
    runs, base = of_same_seeds(runs, base)
    compared = {*runs[0].select(column.kind, column.way)} if directions is None else directions
    kinds = {system_kind(base, direction, column.kind) for direction in compared}
    if len(kinds) > 1:
        return None
    one, other = Side(runs, column), Side(base, column._replace(kind=min(kinds, default=column.kind)))
    if directions is None and compared != {*base[0].select(column.kind, column.way)}:
        directions = compared
    values, others = complete(one.means(directions)), complete(other.means(directions))
    if not (found := mean_difference(one, other, directions)) or not values or not others:
        return None
    inside = inside_seed_noise(values, others)
    return replace(found, note={None: ONE_SEED, True: INSIDE, False: ""}[inside])


def inside_seed_noise(values: Sequence[float], others: Sequence[float]) -> bool | None:
    """Whether two systems' means differ by no more than two deviations of a difference of two runs, √(s² +
    s²).

    None with a single seed on a side: its deviation is not known.
    """
    if min(len(values), len(others)) < 2:
        return None
    return abs(fmean(values) - fmean(others)) <= 2 * math.hypot(stdev(values), stdev(others))


def seed_note(rows: Iterable[Sequence[Cell]]) -> str:
    """What the notes of gains say, where there are any."""
    noted = {cell.note for row in rows for cell in row if isinstance(cell, Measured)}
    return join_sentences(
        f"{note[0].upper()}{note[1:]}: {said}." for note, said in SEED_NOTES.items() if note in noted
    )
