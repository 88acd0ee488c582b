"""What the figures of a report show, as plain data: heat maps over directions, direct translation against the
pivot, and figures of validation by update.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import NamedTuple

from zsnmt.languages import KINDS, SUPERVISED, Direction, kind_name, parse_direction
from zsnmt.report.notes import have_one_pivot, pivots_of
from zsnmt.report.scores import Run, runs_by_system, way_pairs, ways_of, words
from zsnmt.report.table import FORMS
from zsnmt.runs.folder import CHECKPOINTS, LOG_FILE
from zsnmt.runs.log import logged_validations
from zsnmt.runs.scores import Scores
from zsnmt.runs.validation import read_validations
from zsnmt.runs.ways import DIRECT, PIVOT, Way
from zsnmt.scoring.figures import ALL, FIGURES, HIGHER, MAIN, figures_shown_in

DIFFERENCE, CONFUSION = (
    "difference",
    "confusion",
)  # scales of maps, besides those of figures of which more, or less, is better


@dataclass(frozen=True)
class HeatMap:
    """A figure of every two languages: `values[source, target]`, between `low` and `high` on all maps of its
    kind. `further`: it is of another way than direct translation, or of other differences than from the
    pivot.
    """

    kind: str  # bleu, off_target, direct_minus_pivot, confusion …: a name for files
    scale: str  # higher, lower, difference, confusion: what its colours say
    system: str
    title: str
    languages: list[str]
    values: dict[Direction, float]
    low: float
    high: float
    down: str = "source"  # what the languages are at the side, and above
    across: str = "target"
    further: bool = False


class MapKind(NamedTuple):
    """A kind of heat map: as `HeatMap` has it, the end of its scale where that is known, and the values of
    the runs of a system.
    """

    kind: str
    scale: str
    title: str
    top: float | None
    of_runs: Callable[[Sequence[Scores]], dict[Direction, float]]
    further: bool


def heat_maps(all_scores: Sequence[Scores]) -> list[HeatMap]:
    """The main figures of each system in each way but through the pivot, and the differences of ways; means
    over its seeds.
    """
    maps = []
    for kind, scale, title, top, of_runs, further in map_kinds(ways_of(all_scores)):
        by_name = {system: of_runs(runs) for system, runs in runs_by_system(all_scores).items()}
        low, high = limits(scale, [value for values in by_name.values() for value in values.values()], top)
        for system, values in by_name.items():
            if values:
                languages = languages_of(values, all_scores[0].languages)
                maps.append(
                    HeatMap(
                        kind,
                        scale,
                        system,
                        title=title,
                        languages=languages,
                        values=values,
                        low=low,
                        high=high,
                        further=further,
                    )
                )
    return maps


def map_kinds(ways: Sequence[Way]) -> list[MapKind]:
    """The kinds of maps that there are of results in some ways."""
    kinds = []
    for figure, way in itertools.product(figures_shown_in(ALL), [way for way in ways if way != PIVOT]):
        form, share = FORMS[figure], FORMS[figure].factor == 100
        name = figure if way == DIRECT else f"{figure}.{way.file_name}"
        title = words(form.title, way.phrase) + ", %" * share
        kinds.append(
            MapKind(
                name,
                FIGURES[figure].better or HIGHER,
                title,
                top=100 if share else None,
                of_runs=partial(mean_figures, way=way, figure=figure),
                further=way != DIRECT,
            )
        )
    for way, other in way_pairs(ways):
        title = f"{FORMS[MAIN].title}, {way.label} minus {other.label}"
        name = f"{way.file_name}_minus_{other.file_name}"
        of_runs, further = partial(differences, way=way, other=other), (way, other) != (DIRECT, PIVOT)
        kinds.append(MapKind(name, DIFFERENCE, title, top=None, of_runs=of_runs, further=further))
    return kinds


def limits(scale: str, values: Sequence[float], top: float | None = None) -> tuple[float, float]:
    """The ends of a scale, apart even where all values are zero; differences have zero in the middle."""
    widest = (max(map(abs, values), default=0) or 1) if top is None else top
    return (-widest, widest) if scale == DIFFERENCE else (0, widest)


def direction_figures(scores: Scores, way: Way, figure: str) -> dict[Direction, float]:
    """A figure of every direction that was decoded in a way, as it is shown."""
    factor = FORMS[figure].factor
    return {
        result.direction: factor * result.figures[figure]
        for result in scores.results
        if result.way == way and figure in result.figures
    }


def mean_figures(runs: Sequence[Scores], way: Way, figure: str) -> dict[Direction, float]:
    """The same of a system, means over its seeds; none through the pivot where its runs have two."""
    if way == PIVOT and not have_one_pivot(runs):
        return {}
    return mean_by_direction([direction_figures(scores, way, figure) for scores in runs])


def differences(runs: Sequence[Scores], way: Way, other: Way) -> dict[Direction, float]:
    """The main figure of a system in one way minus that in another, of the directions that were decoded in
    both.
    """
    values, others = (mean_figures(runs, each, MAIN) for each in (way, other))
    return {
        direction: value - others[direction] for direction, value in values.items() if direction in others
    }


@dataclass(frozen=True)
class AgainstPivot:
    """The main figure of a system in directions that are not supervised: through the pivot, and directly.

    `kinds`: what the directions are to the system, zero_shot, or zero_resource and few_shot, too, to one that
    has learned from such text; `pivot_by`: the system that translates through the pivot, None for itself.
    """

    system: str
    kinds: Sequence[str]
    points: dict[Direction, tuple[float, float]]
    pivot_by: str | None = None

    @property
    def translator(self) -> str:
        """The system that translates through the pivot."""
        return self.pivot_by or self.system

    @property
    def above(self) -> int:
        """In how many directions direct translation is better."""
        return sum(direct > through for through, direct in self.points.values())


def against_pivot(all_scores: Sequence[Scores]) -> list[AgainstPivot]:
    """Each system that was scored both ways, as means over its seeds; none whose runs have two pivots."""
    compared = []
    for system, runs in runs_by_system(all_scores).items():
        through, direct = (mean_figures(runs, way, MAIN) for way in (PIVOT, DIRECT))
        points = {direction: (value, direct[direction]) for direction, value in through.items()}
        if points:
            found = {runs[0].kinds[direction] for direction in points}
            kinds = [kind for kind in KINDS if kind in found]
            pivot_by = next(iter(pivots_of(runs)), None)
            compared.append(AgainstPivot(system, kinds, points, pivot_by=pivot_by))
    return compared


def mean_by_direction(of_seeds: Sequence[Mapping[Direction, float]]) -> dict[Direction, float]:
    """The mean over the seeds of each direction that all of them have."""
    return {
        direction: fmean(of_seed[direction] for of_seed in of_seeds)
        for direction in of_seeds[0]
        if all(direction in of_seed for of_seed in of_seeds)
    }


def languages_of(directions: Iterable[Direction], languages: Sequence[str]) -> list[str]:
    """Those of the experiment's languages that some directions have, in its order."""
    there = {language for direction in directions for language in direction}
    return [language for language in languages if language in there]


@dataclass(frozen=True)
class Validation:
    """What a run found of a direction at an update: loss (bits a token) and BLEU (0–100), each None where it
    was not recorded.
    """

    system: str
    seed: int
    epoch: int
    updates: int
    direction: Direction
    kind: str  # supervised, zero_shot
    nll_loss: float | None
    bleu: float | None


def validations(runs: Sequence[Run]) -> list[Validation]:
    """Every direction at every validation of the runs that recorded them."""
    return [
        Validation(
            run.scores.system,
            run.scores.seed,
            entry["epoch"],
            updates=entry["updates"],
            direction=parse_direction(direction),
            kind=found["kind"],
            nll_loss=found.get("nll_loss"),
            bleu=found.get("bleu"),
        )
        for run in runs
        for entry in read_validations(run.folder / CHECKPOINTS)
        for direction, found in entry["directions"].items()
    ]


@dataclass(frozen=True)
class Curve:
    """A figure of a run by update, a mean over directions of a kind."""

    system: str
    seed: int
    kind: str  # supervised, zero_shot
    updates: list[int]
    values: list[float]


def curves(found: Iterable[Validation], figure: str) -> list[Curve]:
    """A curve for each run and kind of direction that the figure (nll_loss, bleu) was recorded of."""
    grouped: dict[tuple[str, int, str], dict[int, list[float]]] = {}
    for one in found:
        if (value := getattr(one, figure)) is not None:
            grouped.setdefault((one.system, one.seed, one.kind), {}).setdefault(one.updates, []).append(value)
    return [
        Curve(*run, updates=[*by_update], values=[*map(fmean, by_update.values())])
        for run, by_update in grouped.items()
    ]


def log_curves(runs: Sequence[Run]) -> list[Curve]:
    """The loss over all tokens of each run that kept its log and no more."""
    logs = [
        (run.scores, run.folder / LOG_FILE) for run in runs if not read_validations(run.folder / CHECKPOINTS)
    ]
    read = [
        (scores, validation_losses(log.read_text(encoding="utf-8", errors="replace")))
        for scores, log in logs
        if log.is_file()
    ]
    return [
        Curve(scores.system, scores.seed, SUPERVISED, updates=[*losses], values=[*losses.values()])
        for scores, losses in read
        if losses
    ]


def validation_losses(log: str) -> dict[int, float]:
    """Validation loss by update from fairseq's log (`--log-format json`); a resumed epoch counts once, with
    its last loss.
    """
    losses = {one.updates: one.loss for one in logged_validations(log)}
    return dict(sorted(losses.items()))


def panels(found: Sequence[Validation], figure: str, by_target: bool) -> dict[str, list[Curve]]:
    """Curves by the title of their panel, supervised ones first: one panel per direction, or one per kind and
    target language.
    """
    grouped: dict[str, list[Validation]] = {}
    for one in sorted(found, key=lambda one: KINDS.index(one.kind)):
        title = (
            f"to {one.direction.target}" if by_target else f"{one.direction.source} → {one.direction.target}"
        )
        grouped.setdefault(title + (f", {kind_name(one.kind)}" if one.kind != SUPERVISED else ""), []).append(
            one
        )
    drawn = {title: curves(of_panel, figure) for title, of_panel in grouped.items()}
    return {title: of_panel for title, of_panel in drawn.items() if of_panel}
