"""What runs of one experiment say side by side, as tables.

Beside what `zsnmt.evaluation` writes, a score file may have more, which is shown where it is there: in a result
`copied` (share 0–1), `length_ratio` and `intervals` (`{"bleu": [low, high]}`), at the top `intervals` of the means
(`{"zero_shot": {"bleu": [low, high]}}`) and `families` (`{"aa": "A family"}`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from zsnmt.languages import Direction, parse_direction
from zsnmt.report.measured import FORMS, Cell, Measured, Table, joined, over_seeds
from zsnmt.report.table import (
    CHRF_COLUMNS,
    COLUMNS,
    by_system,
    caption,
    check_comparable,
    lines_note,
    mean_over_directions,
    short_commit,
)
from zsnmt.scores import read_scores

BETWEEN = "different families"
OTHER_FIGURES = ("length_ratio", "copied", "empty", "reference_error")  # of a direction, not also through the pivot

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
    made = systems_table(all_scores), gains_table(all_scores), families_table(all_scores), directions_table(all_scores)
    return {table.name: table.without_empty_columns() for table in (*made, runs_table(all_scores)) if table is not None}


def systems_table(all_scores: Sequence[dict]) -> Table:
    """A row a system: means over the directions of a kind, over its seeds."""
    rows = [system_cells(runs) for runs in by_system(all_scores).values()]
    note = joined([caption(all_scores), "± is the deviation over the seeds.", interval_note(rows)])
    return Table("systems", "Systems", [*rows[0]], [[*row.values()] for row in rows], note)


def system_cells(runs: Sequence[dict]) -> dict[str, Cell]:
    """The row of a system, by the titles of the columns."""
    minus = [mean([*direct_minus_pivot(scores).values()]) for scores in runs]
    return {
        "system": runs[0]["system"],
        "seeds": seeds(runs),
        **{title: mean_measured(runs, *column) for title, column in COLUMNS.items()},
        "zero-shot minus pivot": over_seeds("bleu", minus, difference=True),
        **{title: mean_measured(runs, *column) for title, column in CHRF_COLUMNS.items()},
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
    note = (
        f"Means of a row's system minus those of {base_name}. Inside the seed noise: no more than twice √(s² + s²), with "
        f"the deviations over the seeds of the two systems; with one seed it is not known. {signature_note(all_scores)}"
    )
    return Table("gains", f"Difference from {base_name}", ["system", *COLUMNS], rows, note)


def gain(runs: Sequence[dict], base: Sequence[dict], kind: str, figure: str) -> Measured | None:
    """The difference of two systems' means, noted where seeds do not bear it out."""
    values, base_values = ([mean_over_directions(scores, kind, figure) for scores in side] for side in (runs, base))
    if None in values or None in base_values:
        return None
    note = {None: "one seed", True: "inside the seed noise", False: ""}[inside_seed_noise(values, base_values)]
    return Measured(figure, fmean(values) - fmean(base_values), difference=True, note=note)


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
    for direction in sorted({direction for scores in all_scores for direction in results(scores, "zero_shot")}):
        if relation := family_relation(direction, families):
            groups.setdefault(relation, set()).add(direction)
    between = groups.pop(BETWEEN, None)
    if not groups:
        return None
    groups |= {BETWEEN: between} if between else {}
    systems = by_system(all_scores)
    columns = [f"{system} {way}" for system in systems for way in ("zero-shot", "through pivot", "difference")]
    rows = [
        [relation, str(len(members)), *(cell for runs in systems.values() for cell in family_cells(runs, members))]
        for relation, members in groups.items()
    ]
    note = f"BLEU, means over the zero-shot directions within a family, and between any two. {signature_note(all_scores)}"
    return Table("families", "Language families", ["family", "directions", *columns], rows, note)


def family_relation(direction: Direction, families: Mapping[str, str]) -> str | None:
    """The family a direction stays in, `different families`, or None where one is not known."""
    source, target = map(families.get, direction)
    if source is None or target is None:
        return None
    return source if source == target else BETWEEN


def family_cells(runs: Sequence[dict], directions: set[Direction]) -> list[Measured | None]:
    """BLEU of a system over some directions: zero-shot, through the pivot, the difference."""

    def means(kind: str) -> list[float | None]:
        return [mean([result["bleu"] for direction, result in results(scores, kind).items() if direction in directions])
                for scores in runs]  # fmt: skip

    direct, pivot = means("zero_shot"), means("pivot")
    minus = [None if None in pair else pair[0] - pair[1] for pair in zip(direct, pivot)]
    return [over_seeds("bleu", direct), over_seeds("bleu", pivot), over_seeds("bleu", minus, difference=True)]


def directions_table(all_scores: Sequence[dict]) -> Table:
    """A row a direction and system, with every figure that the score files have."""
    rows = [
        {"direction": str(direction), "kind": kind.replace("_", "-"), "system": system, **direction_cells(runs, direction, kind)}
        for direction, kind in all_directions(all_scores).items()
        for system, runs in by_system(all_scores).items()
    ]
    note = joined([signature_note(all_scores), lines_note(all_scores[0]), interval_note(rows)])
    return Table("directions", "Every direction", [*rows[0]], [[*row.values()] for row in rows], note, headers=3)


def direction_cells(runs: Sequence[dict], direction: Direction, kind: str) -> dict[str, Cell]:
    """The figures of a system in a direction, by the titles of the columns; None where it was not scored."""
    direct = [results(scores, kind).get(direction, {}) for scores in runs]
    pivot = [results(scores, "pivot").get(direction, {}) for scores in runs]
    minus = [direct_minus_pivot(scores).get(direction) for scores in runs]

    def measured(of_seeds: Sequence[dict], figure: str) -> Measured | None:
        return over_seeds(figure, [result.get(figure) for result in of_seeds], of_seeds[0].get("intervals", {}).get(figure))

    return {
        "BLEU": measured(direct, "bleu"),
        "BLEU through pivot": measured(pivot, "bleu"),
        "direct minus pivot": over_seeds("bleu", minus, difference=True),
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
    return Table("runs", "How the runs were made", columns, rows, signature_note(all_scores), headers=2)


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


def mean(values: Sequence[float]) -> float | None:
    """The mean, or None of nothing."""
    return fmean(values) if values else None


def seeds(runs: Sequence[dict]) -> str:
    """The seeds of a system's runs."""
    return ", ".join(str(scores["seed"]) for scores in runs)


def signature_note(all_scores: Sequence[dict]) -> str:
    """What every figure depends on: signatures and seeds."""
    first = all_scores[0]
    titles = {figure: form.title for figure, form in FORMS.items()}
    signatures = "; ".join(f"{titles.get(name, name)}: {signature}" for name, signature in first["signatures"].items())
    listed = "; ".join(f"{system} seed {seeds(runs)}" for system, runs in by_system(all_scores).items())
    return f"{signatures}; {listed}."


def interval_note(rows: Sequence[Mapping[str, Cell]]) -> str:
    """What brackets mean, where there are any."""
    there = any(isinstance(cell, Measured) and cell.interval for row in rows for cell in row.values())
    return "In brackets the confidence interval of the score file." if there else ""
