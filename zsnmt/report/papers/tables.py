"""The tables of papers that are made of translation scores and of probes, by name, and how they are
printed.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.report.comparison import fold
from zsnmt.report.papers.layout import Item, PaperTable
from zsnmt.report.papers.li import LI_TABLES
from zsnmt.report.papers.liu import LIU_TABLES
from zsnmt.report.papers.sources import SCORES
from zsnmt.report.probes.folder import Probes
from zsnmt.report.table import Table, join_sentences, markdown_rows, text_rows, wrap
from zsnmt.runs.scores import Scores

TABLES: dict[str, PaperTable] = {table.name: table for table in (*LIU_TABLES, *LI_TABLES)}


def text_of(paper_table: PaperTable, items: Sequence[Item]) -> str:
    """A table of a paper for a terminal."""
    table = paper_table.table(items)
    return "\n\n".join([f"{table.title}:", text_rows(table), wrap(table.note), wrap(table.signatures)])


def markdown_of(paper_table: PaperTable, items: Sequence[Item]) -> str:
    """A table of a paper in Markdown, with what made the runs folded."""
    table = paper_table.table(items)
    made = fold("how the runs were made", paper_table.provenance(items))
    return "\n\n".join([markdown_rows(table), join_sentences([table.note, table.signatures]), made])


def kept_block(paper_table: PaperTable, folder: Path, _: str) -> str:
    """The block of a document with the table of all that the project keeps for it; `InputError` for
    nothing.
    """
    items = paper_table.read_kept(folder)
    if not items:
        raise InputError(
            f"{folder} holds no config with two systems of {paper_table.name}; add runs with zsnmt results "
            "RUN"
        )
    return markdown_of(paper_table, items)


def beside_papers(all_scores: Sequence[Scores], probed: Sequence[Probes]) -> list[Table]:
    """The tables for one config whose data a paper has figures of, as far as there are some."""
    made = [
        paper_table.compare_with_published(all_scores if paper_table.source is SCORES else probed)
        for paper_table in TABLES.values()
    ]
    return [table for table in made if table is not None]


MAKERS = {name: partial(kept_block, paper_table) for name, paper_table in TABLES.items()}
