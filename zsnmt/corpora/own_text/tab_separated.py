"""Parallel text in files of columns with tabs between them; the first line has the language of each column.

    en<TAB>de<TAB>fr
    Good morning.<TAB>Guten Morgen.<TAB>Bonjour.
    Thank you.<TAB>Danke.<TAB>

A cell that is empty is a sentence that is not there. Quotes have no meaning.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from zsnmt.corpora.own_text.table import Row, Table, check_row, look_for_gaps, split_of
from zsnmt.errors import InputError
from zsnmt.languages import check_languages
from zsnmt.text.lines import iterate_lines


def table_of_tab_separated(file: Path) -> Table:
    """Raises `InputError` for a first line that does not name languages."""
    table = Table(split=split_of(file), languages=read_head(file), files=(file,), rows=partial(rows_of, file))
    return look_for_gaps(table)


def read_head(file: Path) -> tuple[str, ...]:
    """The languages of the columns."""
    head = next(iterate_lines(file))
    try:
        return tuple(check_languages(head.split("\t")))
    except InputError as error:
        raise InputError(
            f"{file}, line 1 must name the language of each column, as in en<TAB>de: {error}"
        ) from error


def rows_of(file: Path) -> Iterator[Row]:
    """The rows below the first; `InputError` for one with more or fewer columns, with its line."""
    lines = iterate_lines(file)
    columns = next(lines).count("\t") + 1
    number = 1
    for number, line in enumerate(lines, start=2):
        row = tuple(line.split("\t"))
        if len(row) != columns:
            raise InputError(
                f"{file}, line {number} has {len(row)} columns and line 1 has {columns}; put a tab between "
                "two columns, and none into a sentence"
            )
        check_row(row, f"{file}, line {number}")
        yield row
    if number == 1:
        raise InputError(f"{file} has nothing below its first line; it needs at least one row of sentences")
