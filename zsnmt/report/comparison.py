"""The comparison of runs as tables: for a terminal, and in Markdown for RESULTS.md."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from zsnmt.errors import InputError
from zsnmt.report.adaptation import adaptation_directions_table
from zsnmt.report.brief_table import brief_note, brief_table, brief_table_of_kinds
from zsnmt.report.comparability import check_comparable
from zsnmt.report.directions import directions_table
from zsnmt.report.marks import marked
from zsnmt.report.probes.folder import Probes
from zsnmt.report.probes.tables import details, headlines
from zsnmt.report.scores import columns_of, seeds, short_commit
from zsnmt.report.systems import STUDY_TABLES, SUMMARIES
from zsnmt.report.table import Table, join_sentences, markdown_rows, spread_note, text_rows, wrap
from zsnmt.runs.scores import Scores
from zsnmt.scoring.figures import ROOMY


def text_table(all_scores: Sequence[Scores]) -> str:
    """For a terminal; `InputError` for runs that cannot be compared."""
    systems, *others = comparison(all_scores)
    return "\n\n".join(parts([short(systems, all_scores), *others], text_rows, wrap))


def text_in_short(all_scores: Sequence[Scores]) -> str:
    """The figures that one chooses a system by, for a terminal."""
    check_comparable(all_scores)
    return "\n\n".join(
        parts([marked(brief_table(all_scores).without_empty_columns(), all_scores)], text_rows, wrap)
    )


def short(systems: Table, all_scores: Sequence[Scores]) -> Table:
    """The table of systems without the figures that a terminal has no room for."""
    roomy = [column.title for column in columns_of(all_scores, ROOMY)]
    return systems.only(title for title in systems.columns if title not in roomy)


def markdown_table(all_scores: Sequence[Scores]) -> str:
    """For a page, first in short where the kinds of systems differ, and with what made each run; `InputError`
    for runs that cannot be compared.
    """
    tables = comparison(all_scores)
    signatures = tables[0].signatures
    if brief := brief_table_of_kinds(all_scores):
        brief = replace(brief, about=brief_note(all_scores[0].pivot))
        tables = [marked(brief.without_empty_columns(), all_scores), *tables]
    return "\n\n".join(filter(None, [*parts(tables, markdown_rows), signatures, provenance(all_scores)]))


def provenance(all_scores: Sequence[Scores]) -> str:
    """What made each run, a Markdown item each."""
    return "\n".join(
        f"* `{scores.system}`, seed {seeds([scores])}: commit {short_commit(scores.commit)}, "
        f"{scores.training}, `{scores.command}`"
        for scores in all_scores
    )


def every_direction(all_scores: Sequence[Scores]) -> str:
    """Every direction of every system in Markdown, of adapted ones also before and after."""
    tables = [make(all_scores) for make in (directions_table, adaptation_directions_table)]
    return "\n\n".join(
        markdown_rows(marked(table.without_empty_columns(), all_scores))
        for table in tables
        if table is not None
    )


def comparison(all_scores: Sequence[Scores]) -> list[Table]:
    """The systems, what they gain, and how they do with new languages, by family and in studies, where that
    can be said.
    """
    check_comparable(all_scores)
    tables = [make(all_scores) for make in SUMMARIES]
    return [marked(table.without_empty_columns(), all_scores) for table in tables if table is not None]


def study_markdown(study: str, all_scores: Sequence[Scores]) -> str:
    """The table of a study in Markdown, with what made the runs folded; `InputError` where they make none."""
    check_comparable(all_scores)
    table = STUDY_TABLES[study](all_scores)
    if table is None:
        raise InputError(
            f"the runs of {all_scores[0].config} are not those of the study {study}; "
            "train and score its systems with zsnmt ablate"
        )
    table = marked(table.without_empty_columns(), all_scores)
    return "\n\n".join(
        [
            markdown_rows(table),
            join_sentences([table.note, table.signatures]),
            fold("how the runs were made", provenance(all_scores)),
        ]
    )


def probes_markdown(found: Sequence[Probes], note: str = "") -> str:
    """What probes found in Markdown, with every layer, confused languages and what made the probes folded;
    the `note` says what is not shown.
    """
    first, others = headlines(found), details(found)
    shown = [f"{table.title}:\n\n{markdown_rows(table)}\n\n{table.about}" for table in first]
    below = [fold(table.title, f"{markdown_rows(table)}\n\n{table.about}".strip()) for table in others]
    said = join_sentences([spread_note([*first, *others]), note])
    return "\n\n".join(filter(None, [*shown, said, first[0].signatures, *below]))


def fold(title: str, content: str) -> str:
    """Markdown that opens on request."""
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>"


def parts(
    tables: Sequence[Table], rows: Callable[[Table], str], prose: Callable[[str], str] = str
) -> list[str]:
    """Each table with its title, but for the first, and what it holds; what stands beside the figures is said
    once, below.
    """
    first, *others = tables
    found = [rows(first), prose(first.about)]
    for table in others:
        found += [f"{table.title}:", rows(table), prose(table.about)]
    return [part for part in (*found, prose(spread_note(tables))) if part]
