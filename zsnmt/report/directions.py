"""Tables with a row per direction and system."""

from collections.abc import Sequence

from zsnmt.languages import Direction, kind_name
from zsnmt.report.notes import have_one_pivot, lines_note, pivot_note, signature_note
from zsnmt.report.scores import (
    Column,
    WayDifference,
    all_directions,
    column_groups,
    runs_by_system,
    system_kind,
    way_pairs,
    ways_of,
    words,
)
from zsnmt.report.significance import (
    Side,
    difference_of_ways,
    mean_difference,
    of_same_seeds,
    same_seeds_note,
)
from zsnmt.report.table import FORMS, Cell, Measured, Table, join_sentences, seed_cell
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT, PIVOT, Way
from zsnmt.scoring.figures import ALL, DIRECTIONS, MAIN, ROOMY, figures_shown_in


def direction_gains_table(all_scores: Sequence[Scores]) -> Table | None:
    """What each system gains over the first one in every direction; None for one system."""
    systems = runs_by_system(all_scores)
    (base_name, base), *others = systems.items()
    if not others:
        return None
    columns, one_pivot = {way for _, way in column_groups(all_scores)}, have_one_pivot(all_scores)
    shown = [
        (way, figure)
        for figure in figures_shown_in(ALL)
        for way in ways_of(all_scores)
        if way in columns and (way != PIVOT or figure == MAIN and not one_pivot)
    ]

    def cells(runs: Sequence[Scores], direction: Direction, kind: str) -> list[Cell]:
        sides = [
            [
                Side(of, Column(system_kind(of, direction, kind), way, figure))
                for of in of_same_seeds(runs, base)
            ]
            for way, figure in shown
        ]
        return [mean_difference(one, other, {direction}) for one, other in sides]

    rows = [
        [str(direction), kind_name(system_kind(runs, direction, kind)), system, *cells(runs, direction, kind)]
        for direction, kind in all_directions(all_scores).items()
        for system, runs in others
    ]
    title = f"Difference from {base_name} in every direction"
    titles = [
        "direction",
        "kind",
        "system",
        *(words(FORMS[figure].title, way.phrase) for way, figure in shown),
    ]
    return Table(
        "direction_gains",
        title,
        titles,
        rows=rows,
        about=same_seeds_note(base_name, systems.values()),
        headers=3,
        signatures=signature_note(all_scores),
    )


def directions_table(all_scores: Sequence[Scores]) -> Table:
    """One row per direction and system, with every figure that the score files have."""
    ways, systems = ways_of(all_scores), runs_by_system(all_scores)
    rows = [
        {
            "direction": str(direction),
            "kind": kind_name(system_kind(runs, direction, kind)),
            "system": system,
            **direction_cells(ways, runs, direction, kind=system_kind(runs, direction, kind)),
        }
        for direction, kind in all_directions(all_scores).items()
        for system, runs in systems.items()
    ]
    about = join_sentences([lines_note(all_scores[0]), pivot_note(all_scores)])
    table = [[*row.values()] for row in rows]
    return Table(
        "directions",
        "Every direction",
        [*rows[0]],
        rows=table,
        about=about,
        headers=3,
        signatures=signature_note(all_scores),
    )


def direction_cells(
    ways: Sequence[Way], runs: Sequence[Scores], direction: Direction, kind: str
) -> dict[str, Cell]:
    """The figures of a system in a direction, by the titles of the columns; None where it was not scored."""

    def measured(figures: Sequence[str], *ways: Way) -> dict[str, Cell]:
        return {
            words(FORMS[figure].title, way.phrase): direction_cell(runs, Column(kind, way, figure), direction)
            for figure in figures
            for way in ways
        }

    return {
        **measured([MAIN], *ways),
        **{
            f"{way.label} minus {other.label}": difference_of_ways(
                runs, WayDifference(kind, way, other), {direction}
            )
            for way, other in way_pairs(ways)
        },
        **measured([figure for figure in figures_shown_in(ALL, ROOMY) if figure != MAIN], *ways),
        **measured(figures_shown_in(DIRECTIONS), DIRECT),
    }


def direction_cell(runs: Sequence[Scores], column: Column, direction: Direction) -> Measured | None:
    """A figure of a system in one direction, over the seeds."""
    first = runs[0].select(column.kind, column.way).get(direction)
    if first is None:  # as in most cells of a table with many ways
        return None
    return seed_cell(
        column.figure, Side(runs, column).means({direction}), first.uncertainty.intervals.get(column.figure)
    )
