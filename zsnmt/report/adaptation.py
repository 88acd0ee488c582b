"""What a language added to a trained run gains, and what it costs: the new directions, and the old ones
before and after.

The score file of an adapted run says what the run began with, `adapted_from` (config, system, seed, the old
languages with the pivot first, and the mode, full or frozen), and has the results of that base as `before`,
if it was scored: on the same lines, by the same metrics and identifier.
"""

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

from zsnmt.languages import KINDS, SUPERVISED, ZERO_SHOT, Direction, kind_name
from zsnmt.report.comparability import list_some
from zsnmt.report.notes import signature_note
from zsnmt.report.scores import (
    Column,
    WayDifference,
    all_directions,
    column_groups,
    columns_of,
    runs_by_system,
    seeds,
    system_kind,
    way_differences,
    ways_of,
    words,
)
from zsnmt.report.significance import (
    Side,
    difference_of_ways,
    gain,
    mean_difference,
    same_seeds_note,
    seed_note,
)
from zsnmt.report.table import FORMS, Cell, Measured, Table, join_sentences, seed_cell
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import PIVOT
from zsnmt.scoring.figures import ALL, MAIN, figures_shown_in, ranges

OLD = "old"
WITH_PIVOT = "new → pivot", "pivot → new"
WITHOUT_PIVOT = "new → old", "old → new", "new → new"
GROUPS = (*WITH_PIVOT, *WITHOUT_PIVOT, OLD)


def columns_shown(all_scores: Sequence[Scores]) -> list[Column]:
    """What tables of new languages and of old directions show: the main figures, not through the pivot."""
    return [column for column in columns_of(all_scores, ALL) if column.way != PIVOT]


def column_title(group: str, column: Column) -> str:
    """What a column of a group is called, which has supervised directions with the pivot, and zero-shot ones
    without.
    """
    kind = "" if column.kind == (SUPERVISED if group in WITH_PIVOT else ZERO_SHOT) else kind_name(column.kind)
    return words(group, kind, "" if column.figure == MAIN else FORMS[column.figure].title, column.way.phrase)


def new_columns(all_scores: Sequence[Scores]) -> dict[str, tuple[str, Column]]:
    """The group and the figure of each column on new languages, by title."""
    return {
        column_title(group, column): (group, column)
        for column in columns_shown(all_scores)
        for group in GROUPS
        if group != OLD
    }


def new_language_table(all_scores: Sequence[Scores]) -> Table | None:
    """One row per adapted system: how well it translates from and into new languages; None without any."""
    systems = adapted_runs(all_scores)
    if not systems:
        return None
    columns, differences = new_columns(all_scores), way_differences(column_groups(all_scores))
    rows = [new_language_cells(runs, columns, differences) for runs in systems.values()]
    new, old = new_languages(systems), old_languages(systems)
    about = (
        f"BLEU and off-target, means over directions. New: {', '.join(new)}; old: {', '.join(old[1:])}; "
        f"pivot: {old[0]}. Mode full: every parameter was trained on; frozen: none that old directions use."
    )
    table = [[*row.values()] for row in rows]
    return Table(
        "adaptation",
        title_of(new),
        [*rows[0]],
        rows=table,
        about=about,
        signatures=signature_note(all_scores),
    )


def new_language_cells(
    runs: Sequence[Scores], columns: Mapping[str, tuple[str, Column]], differences: Sequence[WayDifference]
) -> dict[str, Cell]:
    """The row of a system, by the titles of the columns."""
    cells: dict[str, Cell] = {"system": runs[0].system, "seeds": seeds(runs), "mode": origin(runs[0])["mode"]}
    for title, (group, column) in columns.items():
        cells[title] = mean(runs, column, members(runs, column.kind, group))
    for difference in differences:
        for group in WITHOUT_PIVOT:
            title = f"{column_title(group, difference.sides[0])} minus {difference.other.label}"
            cells[title] = difference_of_ways(runs, difference, members(runs, difference.kind, group))
    return cells


def new_language_gains_table(all_scores: Sequence[Scores]) -> Table | None:
    """What each adapted system gains over the first one with the new languages, marked as other gains; None
    for one system.
    """
    systems = adapted_runs(all_scores)
    if len(systems) < 2:
        return None
    (base_name, base), *others = systems.items()
    columns = new_columns(all_scores)
    rows = [
        [
            system,
            *(
                gain(runs, base, column, directions=members(base, column.kind, group))
                for group, column in columns.values()
            ),
        ]
        for system, runs in others
    ]
    title = f"{title_of(new_languages(systems))}, difference from {base_name}"
    return Table(
        "adaptation_gains",
        title,
        ["system", *columns],
        rows=rows,
        about=join_sentences([same_seeds_note(base_name, systems.values()), seed_note(rows)]),
        signatures=signature_note(all_scores),
    )


def forgetting_table(all_scores: Sequence[Scores]) -> Table | None:
    """One row per adapted system: the old directions before and after; None without any."""
    systems = adapted_runs(all_scores)
    if not systems:
        return None
    rows = [forgetting_cells(runs, columns_shown(all_scores)) for runs in systems.values()]
    about = join_sentences(
        [
            f"BLEU and off-target, means over directions between {', '.join(old_languages(systems))}.",
            *old_notes(systems),
        ]
    )
    table = [[*row.values()] for row in rows]
    return Table(
        "forgetting",
        "Old directions before and after",
        [*rows[0]],
        rows=table,
        about=about,
        signatures=signature_note(all_scores),
    )


def forgetting_cells(runs: Sequence[Scores], columns: Sequence[Column]) -> dict[str, Cell]:
    """The row of a system, by the titles of the columns."""
    cells: dict[str, Cell] = {"system": runs[0].system, "seeds": seeds(runs)}
    for column in columns:
        cells |= before_and_after(column.title, runs, column, directions=members(runs, column.kind, OLD))
    return cells | {
        FORMS["unchanged"].title: seed_cell("unchanged", [unchanged_share(scores) for scores in runs])
    }


def unchanged_share(scores: Scores) -> float | None:
    """The share (0–1) of translations of old directions, in all ways, that are as before to the letter."""
    shares = [result.figures["unchanged"] for result in scores.before if "unchanged" in result.figures]
    return fmean(shares) if shares else None


def adaptation_directions_table(all_scores: Sequence[Scores]) -> Table | None:
    """One row per direction and adapted system, before and after; None without any."""
    systems = adapted_runs(all_scores)
    if not systems:
        return None
    old = old_languages(systems)
    rows = [
        {
            "direction": str(direction),
            "kind": kind_name(system_kind(runs, direction, kind)),
            "group": group,
            "system": system,
            **direction_cells(all_scores, runs, direction, kind=system_kind(runs, direction, kind)),
        }
        for group in GROUPS
        for direction, kind in all_directions(all_scores).items()
        if group_of(direction, old) == group
        for system, runs in systems.items()
    ]
    table, title = [[*row.values()] for row in rows], "Every direction before and after"
    return Table(
        "adaptation_directions",
        title,
        [*rows[0]],
        rows=table,
        about=join_sentences(old_notes(systems)),
        headers=4,
        signatures=signature_note(all_scores),
    )


def direction_cells(
    all_scores: Sequence[Scores], runs: Sequence[Scores], direction: Direction, kind: str
) -> dict[str, Cell]:
    """The main figures of a direction before and after, by the titles of the columns."""
    cells: dict[str, Cell] = {}
    for figure in figures_shown_in(ALL):
        for way in (way for way in ways_of(all_scores) if way != PIVOT):
            cells |= before_and_after(
                words(FORMS[figure].title, way.phrase),
                runs,
                Column(kind, way, figure),
                directions={direction},
            )
    return cells


ADAPTATION_TABLES = new_language_table, new_language_gains_table, forgetting_table  # one row per system


def group_of(direction: Direction, old: Sequence[str]) -> str:
    """Which of the groups a direction is in, by the old languages, the pivot first."""
    sides = [
        "new" if language not in old else "pivot" if language == old[0] else "old" for language in direction
    ]
    return " → ".join(sides) if "new" in sides else OLD


def adapted_runs(all_scores: Sequence[Scores]) -> dict[str, list[Scores]]:
    """The adapted runs of each system that has any."""
    return runs_by_system([scores for scores in all_scores if scores.adapted_from])


def origin(scores: Scores) -> Mapping:
    """What the score file of an adapted run says of the run that it goes on from."""
    assert scores.adapted_from is not None
    return scores.adapted_from


def old_languages(systems: dict[str, list[Scores]]) -> list[str]:
    """The languages of the bases, the pivot first."""
    return origin(next(iter(systems.values()))[0])["languages"]


def new_languages(systems: dict[str, list[Scores]]) -> list[str]:
    """The languages that the bases lack."""
    return [
        language
        for language in next(iter(systems.values()))[0].languages
        if language not in old_languages(systems)
    ]


def title_of(new: Sequence[str]) -> str:
    """The new languages as a title."""
    return f"New language{'s' * (len(new) > 1)}: {', '.join(new)}"


def members(runs: Sequence[Scores], kind: str, group: str) -> list[Direction]:
    """The directions of a kind in a group."""
    first = runs[0]
    directions = dict.fromkeys(result.direction for result in first.results if result.kind == kind)
    return [direction for direction in directions if group_of(direction, origin(first)["languages"]) == group]


def mean(runs: Sequence[Scores], column: Column, directions: Collection[Direction]) -> Measured | None:
    """A figure of a system, its mean over some directions, over the seeds."""
    return seed_cell(column.figure, Side(runs, column).means(directions))


def before_and_after(
    title: str, runs: Sequence[Scores], column: Column, directions: Collection[Direction]
) -> dict[str, Cell]:
    """A figure of a system's bases, its own, and the difference, by the titles of the columns."""
    bases = [scores.base for scores in runs]
    return {
        f"{title} before": mean(bases, column, directions),
        f"{title} after": mean(runs, column, directions),
        f"{title} difference": mean_difference(
            Side(runs, column), Side(bases, column), directions, same_runs=True
        ),
    }


def old_notes(systems: dict[str, list[Scores]]) -> list[str]:
    """What must be known of the old directions: which bases were not scored, and what frozen runs changed."""
    runs = [scores for of_system in systems.values() for scores in of_system]
    return [missing_note(runs), frozen_note(runs)]


def missing_note(runs: Sequence[Scores]) -> str:
    """Which bases were not scored in every old direction, and what to do about it."""
    missing = {
        "{config} {system} seed {seed}".format(**origin(scores)): None
        for scores in runs
        if {direction for kind in KINDS for direction in members([scores], kind, OLD)}
        - {result.direction for result in scores.before}
    }
    remedy = "score it with zsnmt evaluate, then run zsnmt adapt again, and zsnmt evaluate"
    return f"Not scored before in every old direction: {', '.join(missing)}; {remedy}." if missing else ""


def frozen_note(runs: Sequence[Scores]) -> str:
    """Of frozen runs, which figures of the old directions are exactly as before, and where one is not."""
    frozen = [scores for scores in runs if origin(scores)["mode"] == "frozen" and scores.before]
    if not frozen:
        return ""
    changes = {FORMS[figure].title: changed_figures(frozen, figure) for figure in ranges()}
    kept = ", ".join(title for title, places in changes.items() if not places)
    said = [f"exactly as before in every direction that the base was scored in: {kept}"] if kept else []
    said += [f"{title} not as before: {list_some(places)}" for title, places in changes.items() if places]
    return f"Frozen runs: {'; '.join(said)}."


def changed_figures(runs: Sequence[Scores], figure: str) -> list[str]:
    """The runs and directions, of whatever kind and in whatever way, where a figure is not what it was
    before.
    """
    return [
        f"{scores.name} {before.direction} ({words(kind_name(before.kind), before.way.phrase)})"
        for scores in runs
        for before in scores.before
        for after in [scores.select(before.kind, before.way).get(before.direction, before)]
        if after.figures.get(figure) != before.figures.get(figure)
    ]
