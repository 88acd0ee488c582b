"""The comparison of runs for a terminal, and as an entry for RESULTS.md."""

from collections.abc import Callable, Sequence

from zsnmt.report.comparison import directions_table, families_table, gains_table, systems_table
from zsnmt.report.measured import Table, markdown_rows, spread_note, text_rows, wrapped
from zsnmt.report.table import COLUMNS, check_comparable, short_commit


def text_table(all_scores: Sequence[dict]) -> str:
    """For a terminal; `InputError` for runs that cannot be compared."""
    systems, *others = comparison(all_scores)
    short = systems.only(["system", "seeds", *COLUMNS, "zero-shot minus pivot"])
    return "\n\n".join(parts([short, *others], text_rows, wrapped))


def markdown_table(all_scores: Sequence[dict]) -> str:
    """For RESULTS.md, with what made each run; `InputError` for runs that cannot be compared."""
    tables = comparison(all_scores)
    made = [
        f"* `{scores['system']}`, seed {scores['seed']}: commit {short_commit(scores['commit'])}, {scores['training']}, "
        f"`{scores['command']}`"
        for scores in all_scores
    ]
    return "\n\n".join(filter(None, [*parts(tables, markdown_rows), tables[0].signatures, "\n".join(made)]))


def every_direction(all_scores: Sequence[dict]) -> str:
    """Every direction of every system in Markdown."""
    return markdown_rows(directions_table(all_scores).without_empty_columns())


def comparison(all_scores: Sequence[dict]) -> list[Table]:
    """The systems, and what they gain and how they do by family where there is something to say of it."""
    check_comparable(all_scores)
    tables = systems_table(all_scores), gains_table(all_scores), families_table(all_scores)
    return [table.without_empty_columns() for table in tables if table is not None]


def parts(tables: Sequence[Table], rows: Callable[[Table], str], prose: Callable[[str], str] = str) -> list[str]:
    """Each table with its title, but for the first, and what it holds; what stands beside the figures is said once, below."""
    first, *others = tables
    found = [rows(first), prose(first.about)]
    for table in others:
        found += [f"{table.title}:", rows(table), prose(table.about)]
    return [part for part in (*found, prose(spread_note(tables))) if part]
