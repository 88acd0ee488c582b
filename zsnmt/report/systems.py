"""What runs of one experiment say side by side, as tables.

What a score file of `zsnmt.evaluation.evaluate` may lack, as older ones do, is shown where it is there; it may name `families`
of its own (`{"aa": "A family"}`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zsnmt.languages import Direction
from zsnmt.report.adaptation import ADAPTATION_TABLES, adaptation_directions_table
from zsnmt.report.scores import (
    CHRF_COLUMNS,
    COLUMNS,
    COMET_COLUMNS,
    all_directions,
    by_system,
    caption,
    check_comparable,
    lines_note,
    mean_over_directions,
    pivot_note,
    results,
    seeds,
    short_commit,
    signature_note,
    signatures,
)
from zsnmt.report.significance import gain, mean_difference, minus_pivot, seed_note
from zsnmt.report.studies.clip_distance import clip_distance_table
from zsnmt.report.studies.encodings import encodings_table
from zsnmt.report.table import FORMS, Cell, Measured, Table, joined, over_seeds
from zsnmt.runs.scores import read_scores

BETWEEN = "different families"
OTHER_FIGURES = ("comet", "length_ratio", "copied", "empty", "reference_error")  # of a direction, not also through the pivot

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
    makers = *SUMMARIES, directions_table, direction_gains_table, adaptation_directions_table, runs_table
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
    title = f"Difference from {base_name}"
    return Table("gains", title, ["system", *COLUMNS], rows, seed_note(rows), signatures=signature_note(all_scores))


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
    direct, pivot = ([mean_over_directions(scores, kind, "bleu", directions) for scores in runs] for kind in ("zero_shot", "pivot"))
    return [over_seeds("bleu", direct), over_seeds("bleu", pivot), minus_pivot(runs, directions)]


def direction_gains_table(all_scores: Sequence[dict]) -> Table | None:
    """What each system gains over the first one in every direction; None for one system."""
    (base_name, base), *others = by_system(all_scores).items()
    if not others:
        return None
    columns = {"BLEU": (None, "bleu"), "BLEU through pivot": ("pivot", "bleu"), "off-target": (None, "off_target")}
    rows = [
        [str(direction), kind.replace("_", "-"), system, *(mean_difference(figure, (runs, way or kind), (base, way or kind), {direction})
                                                          for way, figure in columns.values())]
        for direction, kind in all_directions(all_scores).items()
        for system, runs in others
    ]  # fmt: skip
    title, titles = f"Difference from {base_name} in every direction", ["direction", "kind", "system", *columns]
    return Table("direction_gains", title, titles, rows, "", 3, signature_note(all_scores))


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


STUDY_TABLES = {"clip_distance": clip_distance_table, "encodings": encodings_table}
SUMMARIES = systems_table, gains_table, *ADAPTATION_TABLES, families_table, *STUDY_TABLES.values()  # a row a system or group
