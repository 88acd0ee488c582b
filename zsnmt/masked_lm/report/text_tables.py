"""The tables of the masked-LM study as text and Markdown."""

from collections.abc import Sequence
from dataclasses import replace

from zsnmt.masked_lm.report.columns import FIRST, FULL
from zsnmt.masked_lm.report.runs import common_training
from zsnmt.masked_lm.report.tables import ENCODINGS_TABLE, TEXT_TABLES, tables
from zsnmt.masked_lm.score_file import MaskedLM
from zsnmt.report.comparison import fold
from zsnmt.report.table import Measured, Table, join_sentences, markdown_rows, markdown_table, text_rows, wrap


def mark_best(table: Table, mark: str) -> Table:
    """A table of encodings with its best figures in a mark such as `**{}**`, as text or as the markup that
    it is; else as it was.
    """
    lower = {column.title for column in (FULL, FIRST)}
    rows = [[*row] for row in table.rows]
    for place, title in enumerate(table.columns):
        means = [cell.mean for row in rows if isinstance(cell := row[place], Measured)]
        if len(means) > 1 and table.name.startswith(ENCODINGS_TABLE):
            best = min(means) if title.split(": ")[-1] in lower else max(means)
            for row in rows:
                if isinstance(cell := row[place], Measured) and cell.mean == best:
                    row[place] = mark.format(cell)
    return replace(table, rows=rows)


def text_of(table: Table) -> str:
    """A table for a terminal, with its title and what it holds; stars at the best encodings."""
    return "\n\n".join(
        [
            f"{table.title}:",
            text_rows(mark_best(table, "{} *")),
            wrap(join_sentences([table.note, table.signatures])),
        ]
    )


def markdown_of(table: Table) -> str:
    """A table with its title and note in Markdown; the best encodings in bold."""
    return markdown_table(mark_best(table, "**{}**"))


def text_report(runs: Sequence[MaskedLM]) -> str:
    """Table 4 for a terminal."""
    return "\n\n".join(
        text_of(table) for name, table in tables(runs).items() if name.startswith(ENCODINGS_TABLE)
    )


def markdown_report(runs: Sequence[MaskedLM]) -> str:
    """For RESULTS.md: Table 4, ablations and Procrustes losses, with Table 5 and what made the runs
    folded.
    """

    def part(table: Table) -> str:
        return f"{markdown_rows(mark_best(table, '**{}**'))}\n\n{table.note}".strip()

    *shown, conditions, made = (table for name, table in tables(runs).items() if name not in TEXT_TABLES)
    below = [fold(table.title, part(table)) for table in (conditions, made)]
    return "\n\n".join(
        [*(f"{table.title}:\n\n{part(table)}" for table in shown), common_training(runs), *below]
    )
