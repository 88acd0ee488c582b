"""Access to the scores of runs: which figures there are in which kinds and ways, their means, and what they
depend on.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, Protocol, TypeVar

from zsnmt.languages import KINDS, SUPERVISED, ZERO_SHOT, Direction, kind_name
from zsnmt.report.table import FORMS, MISSING, complete, numbers_in_short
from zsnmt.runs.scores import Scores, order_groups
from zsnmt.runs.systems import BASELINE
from zsnmt.runs.ways import DIRECT, PIVOT, Way
from zsnmt.scoring.figures import FIGURES, MAIN, figures_shown_in


@dataclass(frozen=True)
class Run:
    """A run folder and its score file."""

    folder: Path
    scores: Scores


class Column(NamedTuple):
    """A figure in the directions of a kind, decoded in a way."""

    kind: str
    way: Way
    figure: str

    @property
    def title(self) -> str:
        """What tables call it: `zero-shot`, `off-target through pivot`. Zero-shot and BLEU go without saying
        where something else is said.
        """
        figure = "" if self.figure == MAIN else FORMS[self.figure].title
        implied = self.kind == ZERO_SHOT and (self.way == PIVOT or not FIGURES[self.figure].of_supervised)
        return words("" if implied else kind_name(self.kind), figure, self.way.phrase)


class WayDifference(NamedTuple):
    """The main figure in the directions of a kind, decoded in a way, minus that in another way."""

    kind: str
    way: Way
    other: Way

    @property
    def sides(self) -> tuple[Column, Column]:
        """Of what it is the difference."""
        return Column(self.kind, self.way, MAIN), Column(self.kind, self.other, MAIN)

    @property
    def title(self) -> str:
        """What tables call it: `zero-shot minus pivot`."""
        return f"{self.sides[0].title} minus {self.other.label}"


def words(*parts: str) -> str:
    """Those that say something, with a space between."""
    return " ".join(filter(None, parts))


def groups_of(all_scores: Iterable[Scores]) -> list[tuple[str, Way]]:
    """The kinds and ways that some score files have results of, as tables list them."""
    return order_groups(group for scores in all_scores for group in scores.groups)


def ways_of(all_scores: Iterable[Scores]) -> list[Way]:
    """The ways that some score files have results of, direct and pivot first."""
    return [way for _, way in order_groups((SUPERVISED, way) for _, way in groups_of(all_scores))]


def column_groups(all_scores: Sequence[Scores]) -> list[tuple[str, Way]]:
    """The kinds and ways that have columns beside one another. Two or more methods of decoding have none:
    their rows are a table of their own.
    """
    methods = methods_of(all_scores)
    apart = methods if len(methods) > 1 else []
    return [(kind, way) for kind, way in groups_of(all_scores) if way not in apart]


def methods_of(all_scores: Iterable[Scores]) -> list[Way]:
    """The ways of decoding that are neither direct nor through the pivot."""
    return [way for way in ways_of(all_scores) if way not in (DIRECT, PIVOT)]


def columns_of(all_scores: Sequence[Scores], *tables: str) -> list[Column]:
    """What there is of the figures that some sorts of tables show of systems, by figure, kind and way."""
    groups = column_groups(all_scores)
    return [
        Column(kind, way, figure)
        for figure in figures_shown_in(*tables)
        for kind, way in groups
        if kind != SUPERVISED or FIGURES[figure].of_supervised
    ]


def way_differences(groups: Sequence[tuple[str, Way]]) -> list[WayDifference]:
    """The differences of ways, see `way_pairs`, for each of the kinds."""
    kinds = dict.fromkeys(kind for kind, _ in groups)
    return [
        WayDifference(kind, *pair)
        for kind in kinds
        for pair in way_pairs([way for of, way in groups if of == kind])
    ]


def way_pairs(ways: Sequence[Way]) -> list[tuple[Way, Way]]:
    """Each way but the pivot, with what tables subtract from it: direct translation and the pivot, where
    there are results of them.
    """
    return [
        (way, other)
        for way in ways
        if way != PIVOT
        for other in (DIRECT, PIVOT)
        if other != way and other in ways
    ]


def mean_over_directions(
    scores: Scores, column: Column, directions: Collection[Direction] | None = None
) -> float | None:
    """The plain mean of a figure over a run's directions of a kind, or over some of them, as the paper takes
    it.

    None without any, and where one of them was not scored.
    """
    results = scores.select(column.kind, column.way)
    chosen = results if directions is None else directions
    values = complete(
        [
            results[direction].figures.get(column.figure) if direction in results else None
            for direction in chosen
        ]
    )
    return fmean(values) if values else None


def all_directions(all_scores: Sequence[Scores]) -> dict[Direction, str]:
    """Every direction with its kind to some of the systems, the supervised ones last, in the order of the
    score files. What is zero-shot to one of them is so here.
    """
    kinds = (*(kind for kind in reversed(KINDS) if kind != SUPERVISED), SUPERVISED)
    return {
        result.direction: kind
        for kind in kinds
        for scores in all_scores
        for result in scores.results
        if result.kind == kind
    }


def system_kind(runs: Sequence[Scores], direction: Direction, otherwise: str) -> str:
    """The kind of a direction to a system, which may have learned from synthetic text what is zero-shot to
    others; `otherwise` where it was not scored.
    """
    return runs[0].kinds.get(direction, otherwise)


class RunResult(Protocol):
    """What is of a run with some seed of a system: its scores, its probes."""

    @property
    def system(self) -> str: ...

    @property
    def seed(self) -> int: ...


AnyRunResult = TypeVar("AnyRunResult", bound=RunResult)


def runs_by_system(runs: Sequence[AnyRunResult]) -> dict[str, list[AnyRunResult]]:
    """The runs of each system, the baseline's before the others, those in the order of their first one."""
    systems: dict[str, list[AnyRunResult]] = {}
    for run in sorted(runs, key=lambda run: run.system != BASELINE.name):
        systems.setdefault(run.system, []).append(run)
    return systems


def own_first(all_scores: Iterable[Scores]) -> list[Scores]:
    """Scores in their order, those of translations that were made elsewhere behind the others."""
    return sorted(all_scores, key=lambda scores: bool(scores.made_elsewhere))


def known_seeds(runs: Iterable[RunResult]) -> list[int]:
    """The seeds of a system's runs, as far as they are known."""
    return [run.seed for run in runs if not isinstance(run, Scores) or run.has_seed]


def seeds(runs: Sequence[RunResult]) -> str:
    """The same, as tables show them."""
    return numbers_in_short(known_seeds(runs)) or MISSING


def short_commit(commit: str) -> str:
    """Twelve digits of a commit and the mark of uncommitted changes, if there is one."""
    digits, *changes = commit.split("+")
    return "+".join([digits[:12], *changes])


def versions_in_short(versions: Mapping[str, str]) -> str:
    """The packages that a run was made with, as tables show them."""
    return ", ".join(f"{package} {version}" for package, version in versions.items())
