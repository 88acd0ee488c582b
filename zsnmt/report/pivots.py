"""One translator through the pivot for all seeds of a system, so that no mean is of two."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from zsnmt.report.scores import runs_by_system
from zsnmt.runs.scores import PIVOT, Result, Scores

OF_A_RUN = {"model", "pivot_model"}  # what runs with the same search differ in
TIMES = {"seconds", "cost"}  # figures of the process that translated, which mean nothing beside another's


def share_pivots(all_scores: Sequence[Scores]) -> list[Scores]:
    """The runs of a config, each with the pivot of its system.

    Where some seeds of a system leave the pivot to another system and some translate through it themselves,
    the latter get what the other system has with their seed: what they would have, had they left it, too.
    Where it was not scored on the same test set by the same search, they have no results through the pivot.
    """
    by_name = {(scores.system, scores.seed): scores for scores in all_scores}
    systems = {
        system: {scores.pivot_by.rpartition(", seed ")[0] for scores in runs if scores.pivot_by}
        for system, runs in runs_by_system(all_scores).items()
    }
    return [
        with_pivot_of(scores, by_name, systems[scores.system])
        if systems[scores.system] and not scores.pivot_by
        else scores
        for scores in all_scores
    ]


def with_pivot_of(
    scores: Scores, by_name: Mapping[tuple[str, int], Scores], systems: Iterable[str]
) -> Scores:
    """A run with the results of another system's run of its seed through the pivot; with none where there are
    several systems, or no such run that translates through the pivot itself.
    """
    results = [result for result in scores.results if result.way != PIVOT]
    means = {group: mean for group, mean in scores.means.items() if group[1] != PIVOT}
    alone = replace(scores, results=results, means=means)
    name, *others = systems
    other = None if others else by_name.get((name, scores.seed))
    if not other or other.pivot_by or searched(other) != searched(scores):
        return alone
    own = {result.direction: result for result in scores.results if result.way == PIVOT}
    given = {result.direction: result for result in other.results if result.way == PIVOT}
    if {*own} != {*given} or any(own[direction].kind != given[direction].kind for direction in own):
        return alone
    return replace(
        scores,
        results=[*results, *(without_times(given[direction]) for direction in own)],
        means={**means, **{group: mean for group, mean in other.means.items() if group[1] == PIVOT}},
        pivot_by=f"{other.system}, seed {other.seed}",
    )


def searched(scores: Scores) -> tuple[object, ...]:
    """What two runs share whose translations can stand in for one another's."""
    search = {name: value for name, value in scores.decoding.items() if name not in OF_A_RUN}
    return scores.test_set, scores.signatures, search


def without_times(result: Result) -> Result:
    """A result without the figures that depend on when it was made."""
    figures = {name: figure for name, figure in result.figures.items() if name not in TIMES}
    return replace(result, figures=figures)
