"""What runs of one experiment say side by side, as tables: a row per system, family or direction, a column
per kind, way and figure.

Ways of decoding, kinds of directions and figures are taken from the score files; what none of them has makes
no column.
"""

from collections.abc import Sequence

from zsnmt.languages import kind_name
from zsnmt.report.adaptation import ADAPTATION_TABLES, adaptation_directions_table
from zsnmt.report.brief_table import brief_table_of_kinds
from zsnmt.report.directions import direction_gains_table, directions_table
from zsnmt.report.families import families_table
from zsnmt.report.marks import marked
from zsnmt.report.notes import caption, have_one_pivot, pivot_note, signature_note, signatures
from zsnmt.report.scores import (
    Column,
    WayDifference,
    column_groups,
    columns_of,
    groups_of,
    methods_of,
    runs_by_system,
    seeds,
    short_commit,
    system_kind,
    versions_in_short,
    way_differences,
)
from zsnmt.report.significance import difference_of_ways, gain, mean_measured, same_seeds_note, seed_note
from zsnmt.report.studies import grid
from zsnmt.report.studies.clip_distance import clip_distance_table
from zsnmt.report.studies.distillation import distillation_table, remedies_table
from zsnmt.report.studies.encodings import encodings_table
from zsnmt.report.table import FORMS, Cell, Table, join_sentences
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT, PIVOT, Way
from zsnmt.scoring.figures import ALL, ROOMY, figures_shown_in


def tables(all_scores: Sequence[Scores]) -> dict[str, Table]:
    """All tables that the score files have something for, by name."""
    apart = directions_table, direction_gains_table, adaptation_directions_table, runs_table
    made = [make(all_scores) for make in (brief_table_of_kinds, *SUMMARIES, *apart)]
    return {
        table.name: marked(table.without_empty_columns(), all_scores) for table in made if table is not None
    }


def systems_table(all_scores: Sequence[Scores]) -> Table:
    """One row per system: means over the directions of a kind, over its seeds."""
    differences, columns = way_differences(column_groups(all_scores)), columns_of(all_scores, ROOMY)
    rows = [
        {
            "system": system,
            "seeds": seeds(runs),
            **{column.title: mean_measured(runs, column) for column in columns_of(all_scores, ALL)},
            **{difference.title: difference_of_ways(runs, difference) for difference in differences},
            **{column.title: mean_measured(runs, column) for column in columns},
        }
        for system, runs in runs_by_system(all_scores).items()
    ]
    # What the caption does not have.
    besides = signatures(all_scores[0], (*figures_shown_in(ROOMY), "intervals"))
    return Table(
        "systems",
        "Systems",
        [*rows[0]],
        rows=[[*row.values()] for row in rows],
        about=caption(all_scores) + pivot_note(all_scores),
        signatures=besides,
    )


def gains_table(all_scores: Sequence[Scores]) -> Table | None:
    """What each system gains over the first one, marked where that is inside the seed noise; None for one
    system.
    """
    systems = runs_by_system(all_scores)
    (base_name, base), *others = systems.items()
    if not others:
        return None
    one_pivot = have_one_pivot(all_scores)
    columns = [column for column in columns_of(all_scores, ALL) if column.way != PIVOT or not one_pivot]
    notes = [kinds_note(base_name, base, others), same_seeds_note(base_name, systems.values())]
    rows = [[system, *(gain(runs, base, column) for column in columns)] for system, runs in others]
    titles = ["system", *(column.title for column in columns)]
    return Table(
        "gains",
        f"Difference from {base_name}",
        titles,
        rows=rows,
        about=join_sentences([*notes, seed_note(rows)]),
        signatures=signature_note(all_scores),
    )


def kinds_note(base_name: str, base: Sequence[Scores], others: Sequence[tuple[str, Sequence[Scores]]]) -> str:
    """Which kind a base has of the directions that only other systems have of a kind, where there are any."""
    known = {kind for kind, _ in base[0].groups}
    kinds: dict[str, set[str]] = {}
    for result in (result for _, runs in others for result in runs[0].results):
        if result.kind not in known:
            kinds.setdefault(result.kind, set()).add(system_kind(base, result.direction, result.kind))
    return join_sentences(
        f"The {kind_name(kind)} directions are {' or '.join(map(kind_name, sorted(of_base)))} to {base_name}."
        for kind, of_base in sorted(kinds.items())
    )


def methods_table(all_scores: Sequence[Scores]) -> Table | None:
    """One row per system, kind of directions and way, where there are two or more methods of decoding: what
    each brings beside direct translation and the pivot, and what it costs.
    """
    if len(methods_of(all_scores)) < 2:
        return None
    figures = figures_shown_in(ALL, ROOMY)

    def cells(runs: Sequence[Scores], kind: str, way: Way) -> list[Cell]:
        """Of the runs that were scored so."""
        differences = [WayDifference(kind, way, other) for other in (DIRECT, PIVOT)]
        runs = [scores for scores in runs if scores.select(kind, way)]
        return [
            seeds(runs),
            *(mean_measured(runs, Column(kind, way, figure)) for figure in figures),
            *(
                difference_of_ways(runs, difference) if difference.other != way else None
                for difference in differences
            ),
        ]

    rows = [
        [system, kind_name(kind), way.label, *cells(runs, kind, way)]
        for system, runs in runs_by_system(all_scores).items()
        if methods_of(runs)
        for kind, way in groups_of(runs)
    ]
    titles = ["system", "directions", "way", "seeds", *(FORMS[figure].title for figure in figures)]
    return Table(
        "methods",
        "Ways of decoding",
        [*titles, "minus direct", "minus pivot"],
        rows=rows,
        about="Means over the directions; cost: seconds of processors over those of direct translation.",
        headers=3,
        signatures=signature_note(all_scores),
    )


def runs_table(all_scores: Sequence[Scores]) -> Table:
    """What made each run."""
    rows: list[list[Cell]] = [
        [
            scores.system,
            seeds([scores]),
            scores.training,
            short_commit(scores.commit),
            versions_in_short(scores.versions) or None,
            scores.command,
        ]
        for scores in all_scores
    ]
    columns = ["system", "seed", "training", "commit", "versions", "command"]
    return Table(
        "runs",
        "How the runs were made",
        columns,
        rows=rows,
        about="",
        headers=2,
        signatures=signature_note(all_scores),
    )


STUDY_TABLES = {
    "clip_distance": clip_distance_table,
    "encodings": encodings_table,
    "distillation": distillation_table,
    "remedies": remedies_table,
    **grid.STUDY_TABLES,
}
# A row per system or group.
SUMMARIES = (
    systems_table,
    methods_table,
    gains_table,
    *ADAPTATION_TABLES,
    families_table,
    *STUDY_TABLES.values(),
)
