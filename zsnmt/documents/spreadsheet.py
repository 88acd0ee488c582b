"""Spreadsheets (.xlsx): texts of cells and comments, charts and text boxes. Names of sheets stay, as numbers
and formulas do, and the heads of tables, by which formulas and pivot tables name their columns.
"""

import re
from collections.abc import Mapping, Set
from functools import partial
from pathlib import Path

from lxml import etree
from lxml.etree import _Element

from zsnmt.documents.markup import PARSER, Place, local_name
from zsnmt.documents.office import DRAWINGS, look, parts_of, types_of
from zsnmt.documents.package import Finder, Package, Stretches, Text, texts_at

# The parts that name columns by their heads.
TABLES = ("spreadsheetml.table+xml", "spreadsheetml.pivotCacheDefinition+xml")
LINE_BREAK = re.compile("_x000a_", re.IGNORECASE)  # as names have it
TEXTS = ("si", "is", "text")  # a text that cells share, one of a cell, and one of a comment
COPY = "tc="  # begins the author of a comment that is a copy of others, for older programs


def read_spreadsheet(path: Path) -> Package:
    """A workbook. A passage is the text of a cell or of a comment; a text that many cells have is one."""
    return Package(path, "a spreadsheet (.xlsx)", parts, keeps_space=True)


def parts(contents: Mapping[str, bytes]) -> dict[str, Finder]:
    """The parts of a workbook with text."""
    types = types_of(contents)
    tables = [name for name, type_ in types.items() if type_.endswith(TABLES)]
    finder = partial(cells, kept={head for name in tables for head in heads(contents[name])})
    kinds = (f"spreadsheetml.{kind}+xml" for kind in ("sharedStrings", "worksheet", "comments"))
    finders: dict[str, Finder] = dict.fromkeys(kinds, finder)
    finders |= {"ms-excel.threadedcomments+xml": answers, **DRAWINGS}
    return parts_of(types, "spreadsheetml.sheet.main+xml", finders)


def heads(table: bytes) -> list[str]:
    """The heads of the columns of a table, or of what a pivot table reads."""
    columns = etree.fromstring(table, PARSER).iter("{*}tableColumn", "{*}cacheField")
    return [LINE_BREAK.sub("\n", column.get("name", "")) for column in columns]


def cells(root: _Element, kept: Set[str]) -> Stretches:
    """The texts of cells and comments, but for those that are kept."""
    authors = enumerate(root.iter("{*}author"))
    copies = {str(number) for number, author in authors if (author.text or "").startswith(COPY)}
    for element in root.iter(*(f"{{*}}{name}" for name in TEXTS)):
        number = element.getparent().get("authorId") if local_name(element) == "text" else None
        if number in copies:
            continue
        found: list[Text] = []
        for child in element:
            text = child if local_name(child) == "t" else child.find("{*}t")
            if text is not None and local_name(child) in ("t", "r"):  # and no reading aid (rPh)
                found += texts_at(Place(text), look(child))
        if "".join(text.text for text in found) not in kept:
            yield found


def answers(root: _Element) -> Stretches:
    """The texts of comments that can be answered."""
    for element in root.iter("{*}text"):
        yield texts_at(Place(element))
