"""The rule by which runs speak for or against a claim, and what follows for it.

A claim is that a figure, mostly a difference of two systems, lies in a range. Of a config the figure is known
to an interval: the bootstrap's over the test lines, where there are resamples, widened to what the seeds say,
which is Student's 95 % interval of the mean, or Welch's of a difference of means, whose seeds may deviate
differently. Runs of a seed begin with the same weights and see the same batches, so systems deviate together:
a difference is over the seeds that both have, taken seed by seed where they are three at least, and the
interval is then Student's. Of some directions, whose resamples are not kept, it is made of the interval of
each, too wide rather than too narrow. Of other figures it is that of the seeds alone. The config *supports*
the claim where the interval lies in the range, *opposes* it where it lies outside, and is *open* where it
does both, and where there is no interval. It says so only weakly with one seed on a side, and on a claim
about supervised quality or perplexity where the loss of a training still fell when it ended.

A claim may consist of several clauses, each with figures of its own; it is as good as the worst of them.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev, variance
from typing import NamedTuple

from zsnmt.analysis.factorial import quantile
from zsnmt.report.scores import RunResult
from zsnmt.report.table import FORMS, Measured, numbers_in_short

SUPPORTS, OPPOSES, OPEN = "supports", "opposes", "open"
HOLDS, WEAKLY, DEPENDS, UNDECIDED, OPPOSED, FAILS, UNTESTED = VERDICTS = (
    "holds",
    "holds weakly",
    "depends on the text",
    "undecided",
    "weakly opposed",
    "does not hold",
    "not tested",
)
# What several clauses come to is the first of theirs.
FROM_WORST = FAILS, OPPOSED, DEPENDS, UNDECIDED, WEAKLY, HOLDS
BLOCKS = 3  # seeds that two systems need in common to be compared seed by seed; two would say next to nothing
POWER = 0.8  # how probably seeds are to tell
MOST = 100  # seeds that are reckoned with


@dataclass(frozen=True)
class Effect:
    """What the runs of a config say: the figure with its interval; whether each side has two seeds or more.

    `sides`: the seeds of each system that the figure is made of; `part`: which part of the claim it is of,
    or of what; `clause`: the clause of the claim that it is a figure of, where there are several; `range`:
    that of the part, where it has its own; `deviations`: of one run over seeds, of each mean that the figure
    is made of, where each has several; `unfinished`: whether the loss of a training still fell, and the claim
    is about what more training would change; `chosen_from`: of how many figures it is the lowest or highest;
    `by_config`: of a figure that compares two configs, the seeds that all its systems have in each.
    """

    config: str
    sides: Sequence[Sequence[int]]
    measured: Measured
    several: bool
    part: str = ""
    clause: str = ""
    range: "Range | None" = None
    deviations: tuple[float, ...] = ()
    unfinished: bool = False
    chosen_from: int = 1
    by_config: Mapping[str, frozenset[int]] = field(default_factory=dict)

    @property
    def fewest(self) -> int:
        """The number of seeds of the side that has the fewest."""
        return min(map(len, self.sides))

    @property
    def seeds(self) -> str:
        """Those of its runs, or of each system where they differ, as a table shows them."""
        return "; ".join(dict.fromkeys(map(numbers_in_short, self.sides)))

    @property
    def speaks(self) -> bool:
        """Whether what it says counts in full."""
        return self.several and not self.unfinished

    @property
    def deviation(self) -> float | None:
        """Of one run over seeds, where it is known: the root of the mean square over the sides."""
        return math.sqrt(fmean(each**2 for each in self.deviations)) if self.deviations else None


class Range(NamedTuple):
    """Where a figure lies if the claim holds, in the units of score files; the ends belong to it."""

    low: float = -math.inf
    high: float = math.inf

    def vote(self, measured: Measured) -> str:
        """Whether a figure supports the claim, opposes it or leaves it open, as one without interval does."""
        low, high = measured.interval or (-math.inf, math.inf)
        if self.low <= low and high <= self.high:
            return SUPPORTS
        return OPPOSES if high < self.low or low > self.high else OPEN

    def distance(self, value: float) -> float:
        """How far a value is from the nearest bound."""
        return min(abs(value - end) for end in self if math.isfinite(end))


COMPARED = " → "  # between the two configs of a figure
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


def verdict(effects: Sequence[Effect], wanted: Range, clauses: Iterable[str] = ()) -> str:
    """What follows from all configs: of several clauses the worst, undecided at best where one of `clauses`,
    the names of all, is not tested; and not tested without effects.
    """
    if not effects:
        return UNTESTED
    found = clause_verdicts(effects, wanted, clauses).values()
    return min((UNDECIDED if each == UNTESTED else each for each in found), key=FROM_WORST.index)


def clause_verdicts(effects: Sequence[Effect], wanted: Range, clauses: Iterable[str] = ()) -> dict[str, str]:
    """What follows for each clause of a claim, among them the `clauses` of these names."""
    of_clauses: dict[str, list[Effect]] = {clause: [] for clause in clauses}
    for effect in effects:
        of_clauses.setdefault(effect.clause, []).append(effect)
    return {
        clause: clause_verdict(of_clause, wanted) if of_clause else UNTESTED
        for clause, of_clause in of_clauses.items()
    }


def clause_verdict(effects: Sequence[Effect], wanted: Range) -> str:
    """What follows from the figures of one clause, which has some.

    It holds where all support it, one of them in full. It holds weakly where some support it in full, none
    opposes it in full, and those that are open in full are no more; and where none says anything in full, and
    of the others some support it and none opposes it. It does not hold, or is weakly opposed, likewise, but
    that some may say otherwise weakly: a text where it fails is enough. It depends on the text where some
    support and some oppose it in full. All else is undecided.
    """
    votes = Counter(((effect.range or wanted).vote(effect.measured), effect.speaks) for effect in effects)
    supports, opposes, opens = (votes[vote, True] for vote in (SUPPORTS, OPPOSES, OPEN))
    if supports and opposes:
        return DEPENDS
    if supports:
        if votes.total() == supports + votes[SUPPORTS, False]:
            return HOLDS
        return WEAKLY if supports >= opens else UNDECIDED
    if opposes:
        return FAILS if opposes >= opens else OPPOSED
    weakly = {vote for vote in (SUPPORTS, OPPOSES) if votes[vote, False]}
    if opens or len(weakly) != 1:
        return UNDECIDED
    return WEAKLY if SUPPORTS in weakly else OPPOSED


def effect(
    config: str,
    measured: Measured,
    sides: Sequence[Sequence[float]],
    *,
    seeds: Sequence[Sequence[int]],
    part: str = "",
    range: Range | None = None,
    unfinished: bool = False,
    chosen_from: int = 1,
) -> Effect:
    """A figure with its interval widened to what seeds say: by the values of each mean that it is made of.

    `chosen_from`: of how many figures it is the lowest or highest, which widens the interval (Bonferroni).
    """
    several = all(len(side) > 1 for side in sides)
    return Effect(
        config,
        seeds,
        widen_interval(measured, sides, chosen_from),
        several=several,
        part=part,
        range=range,
        deviations=tuple(map(stdev, sides)) if several else (),
        unfinished=unfinished,
        chosen_from=chosen_from,
    )


def seeds_of(*sides: Iterable[RunResult]) -> list[list[int]]:
    """The seeds of the runs of each side."""
    return [[run.seed for run in side] for side in sides]


def seed_by_seed(
    sides: Sequence[Sequence[float]], seeds: Sequence[Sequence[int]], least: int = BLOCKS
) -> Sequence[Sequence[float]]:
    """The differences of two sides, as the one side of a figure, where both have the same seeds, so many at
    least; else the sides as they are. `seeds`: those of each side, in the order of its values.
    """
    ones, others = (dict(zip(of_side, side, strict=True)) for side, of_side in zip(sides, seeds, strict=True))
    if ones.keys() != others.keys() or len(ones) < least:
        return sides
    return [[ones[seed] - others[seed] for seed in ones]]


def difference(figure: str, values: Sequence[float], others: Sequence[float]) -> Measured:
    """The mean of some seeds minus that of others."""
    return Measured(figure, fmean(values) - fmean(others), difference=True)


def widen_interval(measured: Measured, sides: Sequence[Sequence[float]], chosen_from: int = 1) -> Measured:
    """A figure with an interval that has its own and that of seeds in it; none where it has neither. Those of
    shares, and of their differences, end where there can be no others.
    """
    several = all(len(side) > 1 for side in sides)
    noise = half_width(sides, chosen_from) if several else 0.0
    low, high = measured.interval or (measured.mean, measured.mean)
    least, most = -math.inf, math.inf
    if FORMS[measured.figure].unit.strip() == "%":
        least, most = -1.0 if measured.difference else 0.0, 1.0
    widest = max(least, min(low, measured.mean - noise)), min(most, max(high, measured.mean + noise))
    known = widest if several or measured.interval else None
    return replace(measured, deviation=None, interval=known, p=None, note="")


def half_width(sides: Sequence[Sequence[float]], chosen_from: int = 1) -> float:
    """Half of Student's 95 % interval of a mean, or of Welch's of a difference of several: the variance of
    each side over its number of seeds, with Satterthwaite's degrees of freedom.
    """
    shares = [variance(side) / len(side) for side in sides]
    if not any(shares):
        return 0.0
    freedom = sum(shares) ** 2 / sum(share**2 / (len(side) - 1) for share, side in zip(shares, sides))
    return quantile(freedom, 1 - 0.025 / chosen_from) * math.sqrt(sum(shares))


def configs_of(effect: Effect) -> list[str]:
    """The configs that a figure is of: one, or the two that it compares."""
    return effect.config.split(COMPARED)


def seeds_to_decide(effect: Effect, wanted: Range) -> int | None:
    """How many seeds of each side tell whether a figure is in a range, if means and deviations stay as they
    are; None for one seed, whose deviation is not known, and where `MOST` of them do not.
    """
    if not effect.deviations:
        return None
    distance = wanted.distance(effect.measured.mean)
    return seeds_that_tell(distance, effect.deviations, chosen_from=effect.chosen_from)


def seeds_that_tell(distance: float, deviations: Sequence[float], *, chosen_from: int = 1) -> int | None:
    """How many seeds of each side, of runs with these deviations, have in four of five cases an interval
    that does not reach as far as a distance; None where `MOST` have not. The interval is that of
    `half_width`; the test lines, which no seed adds to, are left aside.
    """
    variances = [deviation**2 for deviation in deviations]
    if not any(variances):
        return 2
    share = sum(variances) ** 2 / sum(each**2 for each in variances)

    def needed(number: int) -> float:
        freedom = (number - 1) * share
        ends = quantile(freedom, 1 - 0.025 / chosen_from) + quantile(freedom, POWER)
        return ends * math.sqrt(sum(variances) / number)

    return next((number for number in range(2, MOST + 1) if needed(number) < distance), None)
