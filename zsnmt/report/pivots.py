"""One translator through the pivot for all seeds of a system, as far as it is known what it makes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from zsnmt.languages import kind_name
from zsnmt.report.comparability import conditions
from zsnmt.report.notes import pivots_of
from zsnmt.report.scores import groups_of, runs_by_system
from zsnmt.runs.scores import Result, Scores
from zsnmt.runs.ways import PIVOT

TIMES = {"seconds", "cost"}  # figures of the process that translated, which mean nothing beside another's


def share_pivots(all_scores: Sequence[Scores]) -> list[Scores]:
    """The runs of a config, each with the pivot of its system.

    Where some seeds of a system leave the pivot to another system and some translate through it themselves,
    the latter get what the other system has with their seed: what they would have, had they left it, too.
    They stay as they are where that is not known: tables have no mean of two pivots.
    """
    by_name = {(scores.system, scores.seed): scores for scores in all_scores}
    pivots = {system: pivots_of(runs) for system, runs in runs_by_system(all_scores).items()}
    return [
        scores if scores.pivot_by else with_pivot_of(scores, pivots[scores.system], by_name)
        for scores in all_scores
    ]


def with_pivot_of(
    scores: Scores, pivots: Collection[str], by_name: Mapping[tuple[str, int], Scores]
) -> Scores:
    """A run with the results through the pivot of another system's run of its seed, where there is one such
    system, and that run was scored alike and has its own.
    """
    found = [other for pivot in pivots if (other := by_name.get((pivot, scores.seed)))]
    if len(pivots) != 1 or not found or found[0].pivot_by:
        return scores
    (other,) = found
    kinds = {kind: kind_name(kind) for kind, _ in groups_of((scores, other))}
    if conditions(other, kinds) != conditions(scores, kinds):
        return scores
    results = [result for result in scores.results if result.way != PIVOT]
    results += [without_times(result) for result in other.results if result.way == PIVOT]
    means = {group: mean for group, mean in scores.means.items() if group[1] != PIVOT}
    means |= {group: mean for group, mean in other.means.items() if group[1] == PIVOT}
    return replace(scores, results=results, means=means, pivot_by=f"{other.system}, seed {other.seed}")


def without_times(result: Result) -> Result:
    """A result without the figures that depend on when it was made."""
    figures = {name: figure for name, figure in result.figures.items() if name not in TIMES}
    return replace(result, figures=figures)
