"""What runs found, in sentences: how good direct translation is where there is no text, beside the pivot."""

from collections.abc import Iterator, Sequence
from functools import reduce
from statistics import fmean
from typing import NamedTuple

import numpy as np

from zsnmt.analysis.factorial import interval
from zsnmt.languages import KINDS, UNKNOWN, ZERO_RESOURCE, ZERO_SHOT, kind_name, other_pairs
from zsnmt.report.comparability import list_some
from zsnmt.report.scores import all_directions, known_seeds, runs_by_system, words
from zsnmt.report.significance import Part, difference, mean_of_part, of_same_seeds
from zsnmt.report.table import Measured, complete, join_sentences, numbers_in_short
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT, OWN_PIVOT, PIVOT, Way
from zsnmt.scoring.figures import MAIN

OFF_TARGET = "off_target"
THROUGH = (PIVOT, OWN_PIVOT)  # the pivot: by the run that is its teacher or the baseline, and by itself


class SystemMean(NamedTuple):
    """The mean of a system over the directions without text by people, decoded in a way."""

    part: Part
    bleu: Measured

    @property
    def system(self) -> str:
        return self.part.runs[0].system

    @property
    def way(self) -> Way:
        return self.part.way

    @property
    def kinds(self) -> str:
        """What the directions are to the system."""
        found = {self.part.runs[0].kinds[direction] for direction in self.part.directions}
        return " and ".join(kind_name(kind) for kind in KINDS if kind in found)

    @property
    def translator(self) -> str:
        """The system that translates, which through the pivot may be another one."""
        other = pivot_system(self.part.runs[0]) if self.way == PIVOT else None
        return other or self.system


def pivot_system(scores: Scores) -> str | None:
    """The system that translates through the pivot for a run, where it is another run."""
    return scores.pivot_by.partition(", seed ")[0] if scores.pivot_by else None


class Pair(NamedTuple):
    """Two means, each over the seeds that both have, in order; over all of each where they share none."""

    one: Part
    other: Part
    seeds: list[int]

    @classmethod
    def of(cls, one: SystemMean, other: SystemMean) -> "Pair":
        first, second = (
            each.part._replace(runs=sorted(runs, key=lambda scores: scores.seed))
            for each, runs in zip((one, other), of_same_seeds(one.part.runs, other.part.runs))
        )
        return cls(first, second, sorted({*known_seeds(first.runs)} & {*known_seeds(second.runs)}))

    @property
    def means(self) -> tuple[list[float], list[float]]:
        """The mean of each run of either side."""
        one, other = (complete(part.means(MAIN)) or [] for part in self[:2])
        return one, other

    @property
    def apart(self) -> float:
        """The difference, of the figures as they are shown."""
        one, other = (round(fmean(values), 1) for values in self.means)
        return round(one - other, 1)


def finding(all_scores: Sequence[Scores]) -> str:
    """The best direct translation between languages without text by people, how often it is in the wrong
    language, over which systems its lead may be chance, and whether going through the pivot is better; which
    directions were not scored.
    """
    found = [*means(all_scores)]
    direct = [one for one in found if one.way == DIRECT]
    if not direct:
        return unscored_note(all_scores)
    best = reduce(better, direct)
    strayed = best.part.measured(OFF_TARGET)
    wrong = f"; {strayed.head} of its translations are in another language than asked for" if strayed else ""
    known = " of known training" if any(UNKNOWN in scores.kinds.values() for scores in all_scores) else ""
    sentences = [
        f"Between languages without text by people, {best.system} is the best of the systems{known} that "
        f"translate directly ({best.kinds}): {best.bleu.head} BLEU{wrong}."
        if len(direct) > 1
        else f"Between languages without text by people, {best.system} translates directly "
        f"({best.kinds}) with {best.bleu.head} BLEU{wrong}."
    ]
    if close := [one.system for one in direct if one is not best and may_be_chance(Pair.of(best, one))]:
        sentences.append(f"Its lead over {list_some(close)} may be chance.")
    through = [one for one in found if one.way in THROUGH]
    if through:
        own_first = sorted(through, key=lambda one: one.translator != best.system)
        sentences.append(compare_with_pivot(best, reduce(better, own_first), all_scores[0].pivot))
    return join_sentences([*sentences, unscored_note(all_scores)])


def in_every_way(runs: Sequence[Scores]) -> str:
    """How good a system is between languages other than the pivot, in each way that it was scored in; nothing
    where it was scored between none. `runs`: one for each seed.
    """
    first, pivot = runs[0], runs[0].pivot
    other = pivot_system(first)
    spoken = {
        DIRECT: "directly",
        PIVOT: f"through {pivot} by {other}" if other else f"through {pivot}",
        OWN_PIVOT: f"through {pivot} by itself",
    }
    found = {way: mean_of_part(runs, way, MAIN, with_pivot=False) for _, way in first.groups}
    listed = [
        words(spoken.get(way, way.phrase), bleu.head, f"({bleu.note})" if bleu.note else "")
        for way, bleu in found.items()
        if bleu
    ]
    if not listed:
        return ""
    return f"{first.system} between languages other than {pivot}, BLEU: {'; '.join(listed)}."


def unscored_note(all_scores: Sequence[Scores]) -> str:
    """Which pairs without the pivot no run was scored on, of runs that were scored on more than one pair."""
    first, scored = all_scores[0], all_directions(all_scores)
    without = other_pairs([language for language in first.languages if language != first.pivot], scored)
    if not without or len({*map(frozenset, scored)}) < 2:
        return ""
    return (
        f"Not scored: {list_some(without)}. For these the test set has no text, or they were left out; "
        "docs/own_text.md says how to add test sets."
    )


def better(one: SystemMean, other: SystemMean) -> SystemMean:
    """Whichever is higher over the seeds that both have; the first of equals."""
    values, others = Pair.of(one, other).means
    return other if fmean(others) > fmean(values) else one


def compare_with_pivot(direct: SystemMean, pivot: SystemMean, name: str) -> str:
    """Which of the two ways is the better one, by how much, and how sure that is."""
    pair = Pair.of(direct, pivot)
    shown, against = (part.measured(MAIN) for part in (pair.other, pair.one))
    assert shown and against
    apart = pair.apart
    how = f"{'better than that' if apart < 0 else 'less good'} by {abs(apart)}" if apart else "equally good"
    by = f" by {pivot.translator}" if pivot.translator != direct.system else ""
    over = ""
    if pair.seeds and {len(direct.part.runs), len(pivot.part.runs)} != {len(pair.seeds)}:
        over = f" against {against.head} with seed {numbers_in_short(pair.seeds)}, which both have"
    return f"Through {name}, in two translations{by}, {shown.head} BLEU{over}: {how}{doubts(pair)}."


def doubts(pair: Pair) -> str:
    """What speaks against a difference: too few seeds to know, seeds or test lines that do not bear it
    out.
    """
    if not pair.apart:
        return ""
    few = {0: " with other seeds", 1: " with one seed"}.get(len(pair.seeds), "")
    return few + ", which may be chance" * may_be_chance(pair)


def may_be_chance(pair: Pair) -> bool:
    """Whether 0 is in the 95 % interval of a difference, over the test lines or over the seeds, in pairs."""
    values, others = pair.means
    resampled = pair.one.resamples(MAIN), pair.other.resamples(MAIN)
    tested = difference(MAIN, values, others, resampled=resampled)
    intervals = [tested.interval if tested else None]
    if len(pair.seeds) > 1:
        intervals.append(interval(np.subtract(values, others)[:, None]))
    return any(found is not None and min(found) <= 0 <= max(found) for found in intervals)


def means(all_scores: Sequence[Scores]) -> Iterator[SystemMean]:
    """Of each system, over all directions between languages without text by people, directly and through the
    pivot; none of a system that learned some of them from such text.
    """
    kinds, pivot = all_directions(all_scores), all_scores[0].pivot
    directions = [
        direction
        for direction, kind in kinds.items()
        if kind in (ZERO_SHOT, ZERO_RESOURCE) and pivot not in direction
    ]
    for runs in runs_by_system(all_scores).values():
        if not {runs[0].kinds.get(direction) for direction in directions} <= {ZERO_SHOT, ZERO_RESOURCE}:
            continue
        for way in (DIRECT, *THROUGH):
            part = Part(runs, way, directions)
            if part.covered == len(directions) and (measured := part.measured(MAIN)):
                yield SystemMean(part, measured)
