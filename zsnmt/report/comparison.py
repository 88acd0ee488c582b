"""What runs of one experiment say side by side, as tables.

What a score file of `zsnmt.evaluation` may lack, as older ones do, is shown where it is there; it may name `families`
of its own (`{"aa": "A family"}`).
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from zsnmt.languages import Direction, parse_direction
from zsnmt.report.measured import FORMS, Cell, Measured, Table, joined, over_seeds
from zsnmt.report.significance import difference, resamples
from zsnmt.report.table import (
    CHRF_COLUMNS,
    COLUMNS,
    COMET_COLUMNS,
    by_system,
    caption,
    check_comparable,
    lines_note,
    mean_over_directions,
    pivot_note,
    short_commit,
)
from zsnmt.scores import read_scores

BETWEEN = "different families"
OTHER_FIGURES = ("comet", "length_ratio", "copied", "empty", "reference_error")  # of a direction, not also through the pivot

INSIDE, ONE_SEED = "inside the seed noise", "one seed"  # notes of a gain
SEED_NOTES = {
    INSIDE: "no more than 2 √(s₁² + s₂²), with the deviations over the seeds of the two systems",
    ONE_SEED: "the seed noise is not known",
}

FAMILIES = {  # as Liu et al. 2021 group the languages of their data
    **dict.fromkeys(("en", "de", "nl", "da", "sv"), "Germanic"),
    **dict.fromkeys(("fr", "it", "es", "pt", "ro"), "Romance"),
    **dict.fromkeys(("hi", "bn", "gu", "mr", "pa", "or"), "Indo-Aryan"),
    **dict.fromkeys(("kn", "ml", "te"), "Dravidian"),
    "fi": "Uralic",
    "cs": "Slavic",
}


@dataclass(frozen=True)
class Run:
    """A run folder and its score file."""

    folder: Path
    scores: dict


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """The runs with their scores; `InputError` for one without, and for runs that cannot be compared."""
    runs = [Run(folder, read_scores(folder)) for folder in folders]
    check_comparable([run.scores for run in runs])
    return runs


def tables(all_scores: Sequence[dict]) -> dict[str, Table]:
    """All tables that the score files have something for, by name."""
    makers = systems_table, gains_table, families_table, directions_table, direction_gains_table, runs_table
    made = [make(all_scores) for make in makers]
    return {table.name: table.without_empty_columns() for table in made if table is not None}


def systems_table(all_scores: Sequence[dict]) -> Table:
    """A row a system: means over the directions of a kind, over its seeds."""
    rows = [system_cells(runs) for runs in by_system(all_scores).values()]
    table = [[*row.values()] for row in rows]
    besides = signatures(all_scores[0], ("chrf", "comet", "intervals"))  # which the caption does not have
    return Table("systems", "Systems", [*rows[0]], table, caption(all_scores), signatures=besides)


def system_cells(runs: Sequence[dict]) -> dict[str, Cell]:
    """The row of a system, by the titles of the columns."""
    return {
        "system": runs[0]["system"],
        "seeds": seeds(runs),
        **{title: mean_measured(runs, *column) for title, column in COLUMNS.items()},
        "zero-shot minus pivot": minus_pivot(runs, direct_minus_pivot(runs[0])),
        **{title: mean_measured(runs, *column) for title, column in (CHRF_COLUMNS | COMET_COLUMNS).items()},
    }


def minus_pivot(runs: Sequence[dict], directions: Collection[Direction]) -> Measured | None:
    """BLEU of a system in some directions, zero-shot minus through the pivot; None unless all were scored in both ways."""
    direct, pivot = ([mean_of(scores, kind, directions) for scores in runs] for kind in ("zero_shot", "pivot"))
    resampled = tuple(resamples(runs, kind, "bleu", directions) for kind in ("zero_shot", "pivot"))
    return difference("bleu", direct, pivot, resampled, same_runs=True)


def mean_of(scores: dict, kind: str, directions: Collection[Direction]) -> float | None:
    """Mean BLEU of a run over some directions of a kind; None unless all of them were scored."""
    values = [result["bleu"] for direction, result in results(scores, kind).items() if direction in directions]
    return fmean(values) if values and len(values) == len(directions) else None


def mean_measured(runs: Sequence[dict], kind: str, figure: str) -> Measured | None:
    """A figure of a system: its mean over the directions of a kind, over the seeds."""
    interval = runs[0].get("intervals", {}).get(kind, {}).get(figure)
    return over_seeds(figure, [mean_over_directions(scores, kind, figure) for scores in runs], interval)


def gains_table(all_scores: Sequence[dict]) -> Table | None:
    """What each system gains over the first one, marked where that is inside the seed noise; None for one system."""
    systems = by_system(all_scores)
    (base_name, base), *others = systems.items()
    if not others:
        return None
    rows = [[system, *(gain(runs, base, *column) for column in COLUMNS.values())] for system, runs in others]
    noted = {cell.note for row in rows for cell in row if isinstance(cell, Measured)}
    about = joined(f"{note[0].upper()}{note[1:]}: {said}." for note, said in SEED_NOTES.items() if note in noted)
    title = f"Difference from {base_name}"
    return Table("gains", title, ["system", *COLUMNS], rows, about, signatures=signature_note(all_scores))


def gain(runs: Sequence[dict], base: Sequence[dict], kind: str, figure: str) -> Measured | None:
    """The difference of two systems' means, noted where seeds do not bear it out."""
    values, base_values = ([mean_over_directions(scores, kind, figure) for scores in side] for side in (runs, base))
    if None in values or None in base_values:
        return None
    note = {None: ONE_SEED, True: INSIDE, False: ""}[inside_seed_noise(values, base_values)]
    return difference(figure, values, base_values, (resamples(runs, kind, figure), resamples(base, kind, figure)), note)


def inside_seed_noise(values: Sequence[float], others: Sequence[float]) -> bool | None:
    """Whether two systems' means differ by no more than two deviations of a difference of two runs, √(s² + s²).

    None with a single seed on a side: its deviation is not known.
    """
    if min(len(values), len(others)) < 2:
        return None
    return abs(fmean(values) - fmean(others)) <= 2 * math.hypot(stdev(values), stdev(others))


def families_table(all_scores: Sequence[dict]) -> Table | None:
    """Zero-shot means within each family and between families; None unless a direction stays within a known one."""
    families = {**FAMILIES, **all_scores[0].get("families", {})}
    groups: dict[str, set[Direction]] = {}
    for direction, kind in all_directions(all_scores).items():
        if kind == "zero_shot" and (relation := family_relation(direction, families)):
            groups.setdefault(relation, set()).add(direction)
    between = groups.pop(BETWEEN, None)
    if not groups:
        return None
    groups |= {BETWEEN: between} if between else {}
    rows = [
        [relation, str(len(members)), system, *family_cells(runs, members)]
        for relation, members in groups.items()
        for system, runs in by_system(all_scores).items()
    ]
    columns = ["family", "directions", "system", "zero-shot", "through pivot", "zero-shot minus pivot"]
    about = "BLEU, means over the zero-shot directions within a family, and between any two."
    return Table("families", "Language families", columns, rows, about, 3, signature_note(all_scores))


def family_relation(direction: Direction, families: Mapping[str, str]) -> str | None:
    """The family a direction stays in, `different families`, or None where one is not known."""
    source, target = map(families.get, direction)
    if source is None or target is None:
        return None
    return source if source == target else BETWEEN


def family_cells(runs: Sequence[dict], directions: set[Direction]) -> list[Measured | None]:
    """BLEU of a system over some directions: zero-shot, through the pivot, the difference."""

    direct, pivot = ([mean_of(scores, kind, directions) for scores in runs] for kind in ("zero_shot", "pivot"))
    return [over_seeds("bleu", direct), over_seeds("bleu", pivot), minus_pivot(runs, directions)]


def direction_gains_table(all_scores: Sequence[dict]) -> Table | None:
    """What each system gains over the first one in every direction; None for one system."""
    (base_name, base), *others = by_system(all_scores).items()
    if not others:
        return None
    columns = {"BLEU": (None, "bleu"), "BLEU through pivot": ("pivot", "bleu"), "off-target": (None, "off_target")}
    rows = [
        [str(direction), kind.replace("_", "-"), system, *(direction_gain(runs, base, direction, way or kind, figure)
                                                          for way, figure in columns.values())]
        for direction, kind in all_directions(all_scores).items()
        for system, runs in others
    ]  # fmt: skip
    title, titles = f"Difference from {base_name} in every direction", ["direction", "kind", "system", *columns]
    return Table("direction_gains", title, titles, rows, "", 3, signature_note(all_scores))


def direction_gain(runs: Sequence[dict], base: Sequence[dict], direction: Direction, kind: str, figure: str) -> Measured | None:
    """The difference of two systems in a direction."""
    values, base_values = ([results(scores, kind).get(direction, {}).get(figure) for scores in side] for side in (runs, base))
    resampled = tuple(resamples(side, kind, figure, {direction}) for side in (runs, base))
    return difference(figure, values, base_values, resampled)


def directions_table(all_scores: Sequence[dict]) -> Table:
    """A row a direction and system, with every figure that the score files have."""
    rows = [
        {"direction": str(direction), "kind": kind.replace("_", "-"), "system": system, **direction_cells(runs, direction, kind)}
        for direction, kind in all_directions(all_scores).items()
        for system, runs in by_system(all_scores).items()
    ]
    about = joined([lines_note(all_scores[0]), pivot_note(all_scores)])
    table = [[*row.values()] for row in rows]
    return Table("directions", "Every direction", [*rows[0]], table, about, 3, signature_note(all_scores))


def direction_cells(runs: Sequence[dict], direction: Direction, kind: str) -> dict[str, Cell]:
    """The figures of a system in a direction, by the titles of the columns; None where it was not scored."""
    direct = [results(scores, kind).get(direction, {}) for scores in runs]
    pivot = [results(scores, "pivot").get(direction, {}) for scores in runs]

    def measured(of_seeds: Sequence[dict], figure: str) -> Measured | None:
        return over_seeds(figure, [result.get(figure) for result in of_seeds], of_seeds[0].get("intervals", {}).get(figure))

    return {
        "BLEU": measured(direct, "bleu"),
        "BLEU through pivot": measured(pivot, "bleu"),
        "direct minus pivot": minus_pivot(runs, {direction}),
        "off-target": measured(direct, "off_target"),
        "off-target through pivot": measured(pivot, "off_target"),
        "chrF++": measured(direct, "chrf"),
        "chrF++ through pivot": measured(pivot, "chrf"),
        **{FORMS[figure].title: measured(direct, figure) for figure in OTHER_FIGURES},
    }


def runs_table(all_scores: Sequence[dict]) -> Table:
    """What made each run."""
    rows: list[list[Cell]] = [
        [
            scores["system"],
            str(scores["seed"]),
            scores.get("training"),
            short_commit(scores["commit"]),
            ", ".join(f"{package} {version}" for package, version in scores.get("versions", {}).items()) or None,
            scores["command"],
        ]
        for scores in all_scores
    ]
    columns = ["system", "seed", "training", "commit", "versions", "command"]
    return Table("runs", "How the runs were made", columns, rows, "", headers=2, signatures=signature_note(all_scores))


def direct_minus_pivot(scores: dict) -> dict[Direction, float]:
    """BLEU of zero-shot directions minus that through the pivot, where both were scored."""
    direct, pivot = results(scores, "zero_shot"), results(scores, "pivot")
    return {direction: direct[direction]["bleu"] - pivot[direction]["bleu"] for direction in direct if direction in pivot}


def results(scores: dict, kind: str) -> dict[Direction, dict]:
    """The results of one kind by direction."""
    return {parse_direction(result["direction"]): result for result in scores["directions"] if result["kind"] == kind}


def all_directions(all_scores: Sequence[dict]) -> dict[Direction, str]:
    """Every direction with its kind (supervised or zero_shot), the zero-shot ones first, in the order of the score files."""
    return {direction: kind for kind in ("zero_shot", "supervised") for scores in all_scores for direction in results(scores, kind)}


def seeds(runs: Sequence[dict]) -> str:
    """The seeds of a system's runs."""
    return ", ".join(str(scores["seed"]) for scores in runs)


def signature_note(all_scores: Sequence[dict]) -> str:
    """What every figure depends on: signatures and seeds."""
    first = all_scores[0]
    listed = "; ".join(f"{system} seed {seeds(runs)}" for system, runs in by_system(all_scores).items())
    return joined([signatures(first, first["signatures"]), f"Runs: {listed}."])


def signatures(scores: dict, figures: Iterable[str]) -> str:
    """What some figures depend on, as far as it is known."""
    titles, known = {figure: form.title for figure, form in FORMS.items()}, scores["signatures"]
    found = "; ".join(f"{titles.get(figure, figure)}: {known[figure]}" for figure in figures if figure in known)
    return found and f"{found}."
