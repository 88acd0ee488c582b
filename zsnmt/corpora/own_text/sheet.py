"""Parallel text in spreadsheets: .xlsx, .xls, .ods and .csv. The first row has the language of each column.

Columns of other things, such as numbers of articles, are passed over, and so are sheets without languages,
and cells that are no text. A break of a line within a cell is a space. Of a .csv file the separator is the
one that the first row has, or that a line `sep=;` above it names.
"""

import csv
import logging
import re
from collections.abc import Iterator, Sequence
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any
from xml.parsers import expat
from zipfile import ZipFile, is_zipfile

from zsnmt.corpora.own_text.columns import Placed, languages_of_columns, say_others, table_of_rows
from zsnmt.corpora.own_text.table import Table, on_one_line
from zsnmt.errors import InputError, OnFault
from zsnmt.text.lines import open_file, what_else

logger = logging.getLogger(__name__)

SEPARATORS = ",;\t|"
ODS_CONTENT = "content.xml"  # has the cells
NAMED_SEPARATOR = re.compile(rb"(?:\xef\xbb\xbf)?sep=([ -~\t])\r?\n")  # as Excel has it above the first row

PlacedCells = tuple[str, Sequence[Any]]  # the place of a row, and its cells


def table_of_sheets(file: Path, on_fault: OnFault) -> Table:
    """Raises `InputError` for a file that is damaged, or has no sheet whose first row names languages."""
    read = languages_of_sheets(file)
    languages = dict.fromkeys(language for of_sheet in read.values() for language in of_sheet.values())
    return table_of_rows(file, [*languages], partial(rows_of, file, read), on_fault=on_fault)


def languages_of_sheets(file: Path) -> dict[str, dict[int, str]]:
    """The languages of the columns of each sheet that has some; says which others have something."""
    read, reasons, others = {}, [], []
    for sheet, rows in sheets(file):
        place, first = next(rows, (f"{file}{sheet}, row 1", ()))
        heads = [cell if isinstance(cell, str) else "" for cell in first]
        try:
            read[sheet] = languages_of_columns(heads, place)
        except InputError as error:
            reasons.append(error)
            others += [sheet.removeprefix(", ")] * bool(first)
        else:
            say_others(heads, read[sheet], file)
    if not read:
        raise reasons[0] if reasons else InputError(f"{file} has no sheet; give one with sentences")
    if others:
        logger.warning(
            "%s: not read, since their first rows do not name two languages or more, each once: %s",
            file,
            ", ".join(others),
        )
    return read


def rows_of(file: Path, read: dict[str, dict[int, str]], on_fault: OnFault) -> Iterator[Placed]:
    """The rows below the first ones, but for those that are empty. In a .csv file one that is longer than the
    first is a fault: a sentence was cut there.
    """
    may_be_cut = is_csv(file)
    for sheet, rows in sheets(file):
        languages, columns = read.get(sheet, {}), 0
        for number, (place, cells) in enumerate(rows):
            columns = columns or len(cells)
            if may_be_cut and languages and any(map(sentence_of, cells[columns:])):
                on_fault(
                    InputError(
                        f"{place} has {len(cells)} cells and the first row has {columns}; put a sentence "
                        "that has the separator in it between double quotes, or give the further column a "
                        "head in the first row"
                    )
                )
                continue
            sentences = {
                language: sentence
                for column, language in languages.items()
                if column < len(cells) and (sentence := sentence_of(cells[column]))
            }
            if number and sentences:
                yield place, sentences


def sentence_of(cell: object) -> str:
    """The sentence in a cell; none in one of a number, a date and the like."""
    return on_one_line(cell) if isinstance(cell, str) else ""


def sheets(file: Path) -> Iterator[tuple[str, Iterator[PlacedCells]]]:
    """The sheets of a file, with how a place names them, and their rows."""
    if is_csv(file):
        yield "", rows_of_csv(file)
    else:
        yield from sheets_of_workbook(file)


def is_csv(file: Path) -> bool:
    """Whether a file has one sheet alone, in the form of CSV."""
    return file.suffix.lower() == ".csv"


def rows_of_csv(file: Path) -> Iterator[PlacedCells]:
    """The rows of a .csv file, in UTF-8, with a byte order mark or without one."""
    with open_file(file) as content:
        first = content.readline()
        if other := what_else(first):
            raise InputError(f"{file} {other}")
        if named := NAMED_SEPARATOR.fullmatch(first):
            separator, above = named[1].decode(), 1
        else:
            separator, above = max(SEPARATORS, key=first.decode("utf-8", errors="replace").count), 0
            content.seek(0)
        rows = csv.reader(TextIOWrapper(content, "utf-8-sig", newline=""), delimiter=separator, strict=True)
        begin = above + 1  # the line in which a row begins; one with line breaks in its cells has several
        try:
            for cells in rows:
                yield f"{file}, line {begin}", cells
                begin = above + rows.line_num + 1
        except UnicodeDecodeError:
            raise InputError(
                f"{file}, {first_undecodable(file)} is not UTF-8; save the sheet as CSV in UTF-8, or give "
                "the spreadsheet itself (.xlsx, .ods)"
            ) from None
        except csv.Error as error:
            place, limit = f"{file}, line {begin}", csv.field_size_limit()
            if str(limit) in str(error):
                raise InputError(
                    f"{place} has a cell of more than {limit:,} characters; shorten it, or close the "
                    "quotation mark that begins it"
                ) from None
            raise InputError(
                f"{place} does not follow the form of CSV ({error}); mend its quotation marks, which are "
                "doubled within a cell and closed at its end, or save the sheet again"
            ) from None


def first_undecodable(file: Path) -> str:
    """The first byte of a file that is not UTF-8, with its line; a reader of rows meets it earlier."""
    with open_file(file) as content:
        for number, line in enumerate(content, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return f"line {number}, byte {error.start + 1}: 0x{line[error.start]:02x}"
    raise AssertionError(f"{file} is UTF-8")


def sheets_of_workbook(file: Path) -> Iterator[tuple[str, Iterator[PlacedCells]]]:
    """The sheets of a workbook that are shown; `InputError` for a damaged one, or without python-calamine."""
    try:
        from python_calamine import CalamineWorkbook, SheetVisibleEnum
    except ImportError:
        raise InputError(
            f"{file} is a spreadsheet, which python-calamine reads; it is not installed: run "
            "pip install python-calamine, or save the sheet as .csv"
        ) from None
    with open_file(file):  # that it is missing is said as of other files
        pass
    try:
        check_workbook(file)
        workbook = CalamineWorkbook.from_path(file)
        for sheet in workbook.sheets_metadata:
            if sheet.visible == SheetVisibleEnum.Visible:
                rows = workbook.get_sheet_by_name(sheet.name).to_python(skip_empty_area=False)
                name = f", sheet '{sheet.name}'"
                yield name, ((f"{file}{name}, row {row}", cells) for row, cells in enumerate(rows, start=1))
    except InputError:
        raise
    except Exception as error:  # of several kinds, for damage of the archive and of its parts
        raise InputError(
            f"{file} is not a spreadsheet, or is protected or damaged ({error}); save it again, or as .csv"
        ) from None


def check_workbook(file: Path) -> None:
    """Raise what tells of damage in the parts of a workbook that is an archive. Where the XML of an .ods file
    ends too early or is broken, python-calamine 0.9 reads for ever.
    """
    if not is_zipfile(file):  # as those of old versions of Excel
        return
    with ZipFile(file) as archive:
        if damaged := archive.testzip():
            raise ValueError(f"{damaged} in it is damaged")
        if ODS_CONTENT in archive.namelist():
            with archive.open(ODS_CONTENT) as content:
                expat.ParserCreate().ParseFile(content)
