"""The rule by which runs speak for or against a claim, and what follows for it.

A claim is that a figure, mostly a difference of two systems, lies in a range. Of a config the figure is known
to an interval: the bootstrap's over the test lines, widened to what the seeds say, which is Student's 95 %
interval of the mean or of the difference of two. The config *supports* the claim where the interval lies in
the range, *opposes* it where it lies outside, and is *open* where it does both. With one seed on a side it
says so only weakly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, variance
from typing import NamedTuple

from zsnmt.analysis.factorial import quantile
from zsnmt.report.table import Measured

SUPPORTS, OPPOSES, OPEN = "supports", "opposes", "open"
HOLDS, WEAKLY, UNDECIDED, FAILS, UNTESTED = VERDICTS = (
    "holds",
    "holds weakly",
    "undecided",
    "does not hold",
    "not tested",
)


@dataclass(frozen=True)
class Effect:
    """What the runs of a config say: the figure with its interval; whether each side has two seeds or more.

    `seeds`: those of its runs, or of each system where they differ; `part`: which part of the claim it is of,
    or of what; `range`: that of the part, where it has its own; `sides`: how many means it is made of;
    `deviation`: of one run over seeds, where each side has several.
    """

    config: str
    seeds: str
    measured: Measured
    several: bool
    part: str = ""
    range: "Range | None" = None
    sides: int = 2
    deviation: float | None = None

    @property
    def fewest(self) -> int:
        """The number of seeds of the side that has the fewest."""
        return min(len(side.split(", ")) for side in self.seeds.split(SIDES))


class Range(NamedTuple):
    """Where a figure lies if the claim holds, in the units of score files; the ends belong to it."""

    low: float = -math.inf
    high: float = math.inf

    def vote(self, measured: Measured) -> str:
        """Whether a figure supports the claim, opposes it or leaves it open."""
        low, high = measured.interval or (measured.mean, measured.mean)
        if self.low <= low and high <= self.high:
            return SUPPORTS
        return OPPOSES if high < self.low or low > self.high else OPEN


COMPARED = " → "  # between the two configs of a figure
SIDES = "; "  # between the seeds of two systems
ABOVE_ZERO, BELOW_ZERO = Range(low=math.ulp(0)), Range(high=-math.ulp(0))


def at_least(bound: float) -> Range:
    """The range from a bound up."""
    return Range(low=bound)


def at_most(bound: float) -> Range:
    """The range up to a bound."""
    return Range(high=bound)


def within(bound: float) -> Range:
    """The range around zero."""
    return Range(-bound, bound)


def verdict(effects: Sequence[Effect], wanted: Range) -> str:
    """What follows from all configs.

    It holds where all support it, one of them with several seeds. It does not hold where one with several
    seeds opposes it and none with several seeds supports it. It holds weakly where one with several seeds
    supports it and none with several seeds opposes it, or where one with one seed supports it and no other
    says otherwise or leaves it open with several seeds. All else is undecided; a claim without effects is
    not tested.
    """
    if not effects:
        return UNTESTED
    votes = {((effect.range or wanted).vote(effect.measured), effect.several) for effect in effects}
    if (OPPOSES, True) in votes:
        return UNDECIDED if (SUPPORTS, True) in votes else FAILS
    if (SUPPORTS, True) in votes:
        return HOLDS if {vote for vote, _ in votes} == {SUPPORTS} else WEAKLY
    return WEAKLY if (SUPPORTS, False) in votes and votes <= {(SUPPORTS, False), (OPEN, False)} else UNDECIDED


def effect(
    config: str,
    measured: Measured,
    sides: Sequence[Sequence[float]],
    *,
    seeds: str,
    part: str = "",
    range: Range | None = None,
) -> Effect:
    """A figure with its interval widened to what seeds say: by the values of each mean that it is made of."""
    several = all(len(side) > 1 for side in sides)
    deviation = math.sqrt(fmean(map(variance, sides))) if several else None
    shown = widen_interval(measured, sides)
    return Effect(
        config,
        seeds,
        shown,
        several=several,
        part=part,
        range=range,
        sides=len(sides),
        deviation=deviation,
    )


def list_sides(*seeds: str) -> str:
    """The seeds of several systems, once if they have the same."""
    return SIDES.join(dict.fromkeys(seeds))


def difference(figure: str, values: Sequence[float], others: Sequence[float]) -> Measured:
    """The mean of some seeds minus that of others."""
    return Measured(figure, fmean(values) - fmean(others), difference=True)


def widen_interval(measured: Measured, sides: Sequence[Sequence[float]]) -> Measured:
    """A figure with an interval that has its own and that of seeds in it; none where it has neither."""
    noise = half_width(sides) if all(len(side) > 1 for side in sides) else 0.0
    low, high = measured.interval or (measured.mean, measured.mean)
    widest = min(low, measured.mean - noise), max(high, measured.mean + noise)
    known = measured.interval is not None or noise
    return replace(measured, deviation=None, interval=widest if known else None, p=None, note="")


def half_width(sides: Sequence[Sequence[float]]) -> float:
    """Half of Student's 95 % interval of a mean, or of a difference of several; all are taken to deviate
    alike, since two or three seeds do not tell how each does.
    """
    freedom = sum(len(side) - 1 for side in sides)
    pooled = sum(variance(side) * (len(side) - 1) for side in sides) / freedom
    return quantile(freedom) * math.sqrt(pooled * sum(1 / len(side) for side in sides))


def configs_of(effect: Effect) -> list[str]:
    """The configs that a figure is of: one, or the two that it compares."""
    return effect.config.split(COMPARED)


def seeds_to_decide(effect: Effect, wanted: Range) -> int | None:
    """How many seeds of each side tell whether a figure is in a range, if means and deviations stay as they
    are; None for one seed, whose deviation is not known, and where no number of them does.
    """
    if effect.deviation is None:
        return None
    distance = min(abs(effect.measured.mean - end) for end in wanted if math.isfinite(end))
    return seeds_that_tell(distance, effect.deviation, effect.sides)


def seeds_that_tell(distance: float, deviation: float, sides: int = 2, most: int = 100) -> int | None:
    """How many seeds of each side have an interval that is shorter to each side than a distance, of runs with
    a deviation; None where `most` have not. The test lines, which no seed adds to, are left aside.
    """
    return next(
        (
            number
            for number in range(2, most + 1)
            if quantile(sides * (number - 1)) * deviation * math.sqrt(sides / number) < distance
        ),
        None,
    )
