"""Tables by language family: means within each, and between two."""

from collections.abc import Mapping, Sequence

from zsnmt.languages import FAMILIES, SUPERVISED, ZERO_SHOT, Direction, kind_name
from zsnmt.report.notes import signature_note, with_and
from zsnmt.report.scores import (
    Column,
    all_directions,
    column_groups,
    runs_by_system,
    system_kind,
    way_differences,
)
from zsnmt.report.significance import Side, difference_of_ways
from zsnmt.report.table import Cell, Table, seed_cell
from zsnmt.runs.scores import Scores
from zsnmt.scoring.figures import MAIN

BETWEEN = "different families"


def families_table(all_scores: Sequence[Scores]) -> Table | None:
    """Means within each family and between families, not of supervised directions; None unless one stays
    within a known family.
    """
    families = {**FAMILIES, **all_scores[0].families}
    kinds = {direction: kind for direction, kind in all_directions(all_scores).items() if kind != SUPERVISED}
    relations: dict[str, list[Direction]] = {}
    for direction in kinds:
        if relation := family_relation(direction, families):
            relations.setdefault(relation, []).append(direction)
    between = relations.pop(BETWEEN, None)
    if not relations:
        return None
    relations |= {BETWEEN: between} if between else {}
    groups = [(kind, way) for kind, way in column_groups(all_scores) if kind != SUPERVISED]
    columns, differences = [Column(*group, MAIN) for group in groups], way_differences(groups)

    def cells(runs: Sequence[Scores], members: Sequence[Direction]) -> list[Cell]:
        of: dict[str, list[Direction]] = {kind: [] for kind, _ in groups}
        for direction in members:
            of[system_kind(runs, direction, kinds[direction])].append(direction)
        means = [seed_cell(MAIN, Side(runs, column).means(of[column.kind])) for column in columns]
        return [
            *means,
            *(difference_of_ways(runs, difference, of[difference.kind]) for difference in differences),
        ]

    rows = [
        [relation, str(len(members)), system, *cells(runs, members)]
        for relation, members in relations.items()
        for system, runs in runs_by_system(all_scores).items()
    ]
    titles = ["family", "directions", "system"]
    titles += [column.title for column in columns] + [difference.title for difference in differences]
    shown = with_and([*dict.fromkeys(kind_name(kind) for kind, _ in groups)])
    about = f"BLEU, means over the {shown} directions within a family, and between any two."
    return Table(
        "families",
        "Language families",
        titles,
        rows=rows,
        about=about,
        headers=3,
        signatures=signature_note(all_scores),
    )


def family_relation(direction: Direction, families: Mapping[str, str]) -> str | None:
    """The family a direction stays in, `different families`, or None where one is not known."""
    source, target = map(families.get, direction)
    if source is None or target is None:
        return None
    return source if source == target else BETWEEN


def within_families(all_scores: Sequence[Scores]) -> dict[str, list[Direction]]:
    """The zero-shot directions that stay within each family."""
    known = {**FAMILIES, **all_scores[0].families}
    within: dict[str, list[Direction]] = {}
    for direction, kind in all_directions(all_scores).items():
        relation = family_relation(direction, known)
        if kind == ZERO_SHOT and relation not in (None, BETWEEN):
            within.setdefault(str(relation), []).append(direction)
    return within
