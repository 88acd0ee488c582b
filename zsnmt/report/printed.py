"""The comparison of runs for a terminal, and as an entry for RESULTS.md."""

from collections.abc import Callable, Sequence

from zsnmt.report.adaptation import ADAPTATION_TABLES, adaptation_directions_table
from zsnmt.report.comparison import directions_table, families_table, gains_table, systems_table
from zsnmt.report.measured import Table, markdown_rows, spread_note, text_rows, wrapped
from zsnmt.report.probe_tables import details, headlines
from zsnmt.report.probes import Probes
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
    """Every direction of every system in Markdown, of adapted ones also before and after."""
    tables = [make(all_scores) for make in (directions_table, adaptation_directions_table)]
    return "\n\n".join(markdown_rows(table.without_empty_columns()) for table in tables if table is not None)


def comparison(all_scores: Sequence[dict]) -> list[Table]:
    """The systems, and what they gain, how they do with new languages and by family where there is something to say of it."""
    check_comparable(all_scores)
    tables = [make(all_scores) for make in (systems_table, gains_table, *ADAPTATION_TABLES, families_table)]
    return [table.without_empty_columns() for table in tables if table is not None]


def probes_markdown(found: Sequence[Probes]) -> str:
    """What probes found in Markdown, with every layer, confused languages and what made the probes folded."""
    first, others = headlines(found), details(found)
    shown = [f"{table.title}:\n\n{markdown_rows(table)}\n\n{table.about}" for table in first]
    below = [folded(table.title, f"{markdown_rows(table)}\n\n{table.about}".strip()) for table in others]
    return "\n\n".join(filter(None, [*shown, spread_note([*first, *others]), first[0].signatures, *below]))


def folded(title: str, content: str) -> str:
    """Markdown that opens on request."""
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>"


def parts(tables: Sequence[Table], rows: Callable[[Table], str], prose: Callable[[str], str] = str) -> list[str]:
    """Each table with its title, but for the first, and what it holds; what stands beside the figures is said once, below."""
    first, *others = tables
    found = [rows(first), prose(first.about)]
    for table in others:
        found += [f"{table.title}:", rows(table), prose(table.about)]
    return [part for part in (*found, prose(spread_note(tables))) if part]
