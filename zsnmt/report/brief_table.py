"""The short table: what one chooses a system by."""

import math
from collections.abc import Sequence
from dataclasses import replace

from zsnmt.languages import SUPERVISED
from zsnmt.report.notes import caption
from zsnmt.report.scores import groups_of, runs_by_system, seeds
from zsnmt.report.significance import mean_of_part
from zsnmt.report.table import Cell, Measured, Table, join_sentences
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT, OWN_PIVOT, PIVOT, Way
from zsnmt.scoring.figures import MAIN

DIRECTLY = "others, directly"  # the column by which a page orders systems


def brief_table(all_scores: Sequence[Scores]) -> Table:
    """The figures that one chooses a system by, in the same columns whatever text it learned from."""
    systems, pivot = runs_by_system(all_scores), all_scores[0].pivot
    others = DIRECTLY, f"others, through {pivot}"
    return Table(
        "in_short",
        "In short",
        ["system", "seeds", f"with {pivot}", *others, "wrong language"],
        rows=[[system, seeds(runs), *brief_cells(runs)] for system, runs in systems.items()],
        about=join_sentences([brief_note(pivot), caption(all_scores)]),
    )


def brief_note(pivot: str) -> str:
    """What the columns of a table in short are."""
    return (
        f"Others: directions without {pivot}; through {pivot}: by the system itself. "
        "Wrong language: off-target, of the direct translations."
    )


def brief_table_of_kinds(all_scores: Sequence[Scores]) -> Table | None:
    """The same where the kinds of the systems differ, so that other tables have their figures in different
    columns, with the best direct translations first; None elsewhere.
    """
    kinds = {kind for kind, _ in groups_of(all_scores)} - {SUPERVISED}
    if len(kinds) < 2:
        return None
    table = brief_table(all_scores)
    place = table.columns.index(DIRECTLY)

    def directly(row: Sequence[Cell]) -> float:
        cell = row[place]
        return cell.mean if isinstance(cell, Measured) else -math.inf

    rows = sorted(table.rows, key=directly, reverse=True)
    return replace(
        table, rows=rows, about=join_sentences([table.about, "What is best directly stands first."])
    )


def brief_cells(runs: Sequence[Scores]) -> list[Cell]:
    """What a system has with the pivot, and in all other directions: directly, through the pivot, both times
    by itself, and how much of the direct ones is in another language than asked for.
    """
    return [
        mean_of_part(runs, DIRECT, MAIN, with_pivot=True),
        mean_of_part(runs, DIRECT, MAIN, with_pivot=False),
        mean_of_part(runs, pivot_by_itself(runs), MAIN, with_pivot=False),
        mean_of_part(runs, DIRECT, "off_target", with_pivot=False),
    ]


def pivot_by_itself(runs: Sequence[Scores]) -> Way:
    """The way in which a system was scored through the pivot by itself."""
    return PIVOT if all(scores.pivot_by is None for scores in runs) else OWN_PIVOT
