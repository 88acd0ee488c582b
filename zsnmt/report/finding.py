"""What runs found, in sentences: how good direct translation is where there is no text, beside the pivot."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zsnmt.languages import FEW_SHOT, SUPERVISED, kind_name, other_pairs
from zsnmt.report.alike import list_some
from zsnmt.report.scores import Column, all_directions, runs_by_system
from zsnmt.report.significance import Side, inside_seed_noise, mean_difference, mean_measured
from zsnmt.report.table import Measured, complete, join_sentences
from zsnmt.runs.scores import DIRECT, OWN_PIVOT, PIVOT, Scores, Way
from zsnmt.scoring.figures import MAIN

OFF_TARGET = "off_target"
THROUGH = (PIVOT, OWN_PIVOT)  # the pivot: by the run that is its teacher or the baseline, and by itself


class KindMean(NamedTuple):
    """The mean of a system over the directions of a kind that were decoded in a way."""

    system: str
    side: Side
    bleu: Measured

    @property
    def kind(self) -> str:
        return self.side.column.kind

    @property
    def way(self) -> Way:
        return self.side.column.way

    @property
    def translator(self) -> str:
        """The system that translates, which through the pivot may be another one."""
        other = self.side.runs[0].pivot_by if self.way == PIVOT else None
        return other.partition(", seed ")[0] if other else self.system


def finding(all_scores: Sequence[Scores]) -> str:
    """The best direct translation between languages without text by people, how often it is in the wrong
    language, and whether going through the pivot is better; which directions were not scored.
    """
    found = [*means(all_scores)]
    direct = [one for one in found if one.way == DIRECT]
    if not direct:
        return unscored_note(all_scores)
    best = max(direct, key=mean_bleu)
    strayed = mean_measured(best.side.runs, Column(best.kind, DIRECT, OFF_TARGET))
    wrong = f", and {strayed.head} of that is in another language than asked for" if strayed else ""
    sentences = [
        f"Between languages without text by people, {best.system} is the best of the systems that translate "
        f"directly ({kind_name(best.kind)}): {best.bleu.head} BLEU{wrong}."
        if len(direct) > 1
        else f"Between languages without text by people, {best.system} translates directly "
        f"({kind_name(best.kind)}) with {best.bleu.head} BLEU{wrong}."
    ]
    if through := [one for one in found if one.way in THROUGH]:
        best_through = max(through, key=lambda one: (one.bleu.mean, one.translator == best.system))
        sentences.append(compare_with_pivot(best, best_through, all_scores[0].pivot))
    return join_sentences([*sentences, unscored_note(all_scores)])


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


def mean_bleu(one: KindMean) -> float:
    return one.bleu.mean


def compare_with_pivot(direct: KindMean, pivot: KindMean, name: str) -> str:
    """Which of the two ways is the better one, by how much, and whether that may be chance."""
    apart = round(round(direct.bleu.mean, 1) - round(pivot.bleu.mean, 1), 1)  # as they are shown
    how = f"{'better than that' if apart < 0 else 'less good'} by {abs(apart)}" if apart else "equally good"
    if apart and may_be_chance(direct.side, pivot.side):
        how += ", which may be chance"
    by = f" by {pivot.translator}" if pivot.translator != direct.system else ""
    return f"Through {name}, in two translations{by}, {pivot.bleu.head} BLEU: {how}."


def may_be_chance(one: Side, other: Side) -> bool:
    """Whether the test lines, or the seeds where there are several, do not bear a difference out."""
    tested, values, others = mean_difference(one, other), complete(one.means()), complete(other.means())
    in_lines = bool(tested and tested.interval and min(tested.interval) <= 0 <= max(tested.interval))
    return in_lines or bool(values and others and inside_seed_noise(values, others))


def means(all_scores: Sequence[Scores]) -> Iterator[KindMean]:
    """Of each system, by kind and way, but for directions with text by people and methods of decoding."""
    for system, runs in runs_by_system(all_scores).items():
        for kind, way in runs[0].groups:
            column = Column(kind, way, MAIN)
            measured = mean_measured(runs, column)
            if measured and kind not in (SUPERVISED, FEW_SHOT) and way in (DIRECT, *THROUGH):
                yield KindMean(system, Side(runs, column), measured)
