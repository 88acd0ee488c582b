"""Parallel text in files of columns with tabs between them; the first line has the language of each column.

    en<TAB>de<TAB>fr
    Good morning.<TAB>Guten Morgen.<TAB>Bonjour.
    Thank you.<TAB>Danke.<TAB>

A cell that is empty is a sentence that is not there. Quotes have no meaning, but for those that a spreadsheet
has put around a cell with others in it, which are refused.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from zsnmt.corpora.own_text.columns import Placed, languages_of_columns, say_others, table_of_rows
from zsnmt.corpora.own_text.table import Table
from zsnmt.errors import InputError, OnFault, counted
from zsnmt.text.lines import is_blank, iterate_lines

QUOTED = re.compile(r'"([^"]|"")*""([^"]|"")*"')  # a cell with quotes in it, as spreadsheets write one


def table_of_tab_separated(file: Path, on_fault: OnFault) -> Table:
    """Raises `InputError` for a first line that does not name languages, and for text without a row."""
    heads = next(iterate_lines(file, of_windows=True)).split("\t")
    languages = languages_of_columns(heads, f"{file}, line 1")
    say_others(heads, languages, file)
    return table_of_rows(file, [*languages.values()], partial(rows_of, file, languages), on_fault=on_fault)


def rows_of(file: Path, languages: Mapping[int, str], on_fault: OnFault) -> Iterator[Placed]:
    """The rows below the first, from the languages of columns; one with more or fewer columns is a fault."""
    lines = iterate_lines(file, allow_empty_lines=True, of_windows=True, on_fault=on_fault)
    columns = next(lines).count("\t") + 1
    for number, line in enumerate(lines, start=2):
        cells, place = line.split("\t"), f"{file}, line {number}"
        if is_blank(line):
            continue
        if len(cells) != columns:
            on_fault(
                InputError(
                    f"{place} has {counted(len(cells), 'column')} and line 1 has {columns}; put a tab "
                    "between two columns, and none into a sentence"
                )
            )
            continue
        sentences = {language: cells[column] for column, language in languages.items()}
        if any(QUOTED.fullmatch(cell) for cell in sentences.values()):
            on_fault(
                InputError(
                    f"{place} has a cell in the quotes of a spreadsheet, which would be learnt; give the "
                    "spreadsheet itself (.xlsx, .ods), or save it as .csv"
                )
            )
            continue
        yield place, sentences
