"""What the figures of a report show, as plain data: heat maps over directions, and figures of validation by update."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from zsnmt.languages import Direction, parse_direction
from zsnmt.report.scores import by_system
from zsnmt.report.systems import Run, direct_minus_pivot, results
from zsnmt.runs.folder import CHECKPOINTS, LOG_FILE
from zsnmt.runs.log import logged_validations
from zsnmt.runs.validation import read_validations


@dataclass(frozen=True)
class HeatMap:
    """A figure of every two languages: `values[source, target]`, between `low` and `high` on all maps of its kind."""

    kind: str  # bleu, off_target, direct_minus_pivot, confusion
    system: str
    title: str
    languages: list[str]
    values: dict[Direction, float]
    low: float
    high: float
    down: str = "source"  # what the languages are at the side, and above
    across: str = "target"


def heat_maps(all_scores: Sequence[dict]) -> list[HeatMap]:
    """BLEU, off-target rate (in %) and direct minus pivot of each system, means over its seeds."""
    maps = []
    for kind, (title, of_run) in _MAPS.items():
        by_name = {system: mean_by_direction([*map(of_run, runs)]) for system, runs in by_system(all_scores).items()}
        low, high = limits(kind, [value for values in by_name.values() for value in values.values()])
        for system, values in by_name.items():
            if values:
                languages = languages_of(values, all_scores[0]["languages"])
                maps.append(HeatMap(kind, system, title, languages, values, low, high))
    return maps


def limits(kind: str, values: Sequence[float]) -> tuple[float, float]:
    """The ends of the scale for the maps of a kind: differences have zero in the middle."""
    if kind == "off_target":
        return 0, 100
    widest = max(map(abs, values), default=0)
    return (-widest, widest) if kind == "direct_minus_pivot" else (0, widest)


def direct_figure(scores: dict, figure: str, factor: float = 1) -> dict[Direction, float]:
    """A figure of every direct direction, supervised and zero-shot."""
    found = {**results(scores, "supervised"), **results(scores, "zero_shot")}
    return {direction: factor * result[figure] for direction, result in found.items()}


_MAPS = {
    "bleu": ("BLEU", lambda scores: direct_figure(scores, "bleu")),
    "off_target": ("off-target, %", lambda scores: direct_figure(scores, "off_target", 100)),
    "direct_minus_pivot": ("BLEU, direct minus pivot", direct_minus_pivot),
}


def mean_by_direction(of_seeds: Sequence[Mapping[Direction, float]]) -> dict[Direction, float]:
    """The mean over the seeds of each direction that all of them have."""
    return {direction: fmean(of_seed[direction] for of_seed in of_seeds)
            for direction in of_seeds[0] if all(direction in of_seed for of_seed in of_seeds)}  # fmt: skip


def languages_of(directions: Iterable[Direction], languages: Sequence[str]) -> list[str]:
    """Those of the experiment's languages that some directions have, in its order."""
    there = {language for direction in directions for language in direction}
    return [language for language in languages if language in there]


@dataclass(frozen=True)
class Validation:
    """What a run found of a direction at an update: loss (bits a token) and BLEU (0–100), each None where it was not recorded."""

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
            run.scores["system"], run.scores["seed"], entry["epoch"], entry["updates"],
            parse_direction(direction), found["kind"], found.get("nll_loss"), found.get("bleu"),
        )
        for run in runs
        for entry in read_validations(run.folder / CHECKPOINTS)
        for direction, found in entry["directions"].items()
    ]  # fmt: skip


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
    grouped: dict[tuple, dict[int, list[float]]] = {}
    for one in found:
        if (value := getattr(one, figure)) is not None:
            grouped.setdefault((one.system, one.seed, one.kind), {}).setdefault(one.updates, []).append(value)
    return [Curve(*run, [*by_update], [*map(fmean, by_update.values())]) for run, by_update in grouped.items()]


def log_curves(runs: Sequence[Run]) -> list[Curve]:
    """The loss over all tokens of each run that kept its log and no more."""
    logs = [(run.scores, run.folder / LOG_FILE) for run in runs if not read_validations(run.folder / CHECKPOINTS)]
    read = [(scores, validation_losses(log.read_text(encoding="utf-8"))) for scores, log in logs if log.is_file()]
    return [
        Curve(scores["system"], scores["seed"], "supervised", [*losses], [*losses.values()]) for scores, losses in read if losses
    ]


def validation_losses(log: str) -> dict[int, float]:
    """Validation loss by update from fairseq's log (`--log-format json`); a resumed epoch counts once, with its last loss."""
    losses = {int(entry["valid_num_updates"]): float(entry["valid_nll_loss"]) for entry in logged_validations(log)}
    return dict(sorted(losses.items()))


def panels(found: Sequence[Validation], figure: str, by_target: bool) -> dict[str, list[Curve]]:
    """Curves by the title of their panel, supervised ones first: a panel a direction, or one a kind and target language."""
    grouped: dict[str, list[Validation]] = {}
    for one in sorted(found, key=lambda one: one.kind):
        title = f"to {one.direction.target}" if by_target else f"{one.direction.source} → {one.direction.target}"
        grouped.setdefault(title + ", zero-shot" * (one.kind == "zero_shot"), []).append(one)
    drawn = {title: curves(of_panel, figure) for title, of_panel in grouped.items()}
    return {title: of_panel for title, of_panel in drawn.items() if of_panel}
