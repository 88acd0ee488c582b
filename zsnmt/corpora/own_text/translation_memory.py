"""Parallel text in a translation memory: a file in TMX, which the tools of translators write.

    <tu>
      <tuv xml:lang="en-GB"><seg>Good <bpt i="1">&lt;b></bpt>morning<ept i="1">&lt;/b></ept>.</seg></tuv>
      <tuv xml:lang="de-DE"><seg>Guten Morgen.</seg></tuv>
    </tu>

A unit (`tu`) is a row. Of `en-GB` the language alone counts, and of two variants of a language in a unit the
first. Markup is left out, with what it holds, and a break of a line is a space. A unit without a translation
is no row, and they are counted. Source: TMX 1.4b, sections 2 and 3 (the older `lang` is read as well).
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from zsnmt.corpora.own_text.table import Row, Table, check_row, split_of
from zsnmt.errors import InputError
from zsnmt.languages import CODE
from zsnmt.text.lines import is_blank

LOG = logging.getLogger(__name__)

LANGUAGE = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")
NATIVE = ("bpt", "ept", "it", "ph", "ut", "sub")  # markup of the document that was translated
WHITE = re.compile(r"[ \t\n\r\x85\u2028\u2029]+")  # not the spaces that belong to a sentence, as U+00A0


def table_of_translation_memory(file: Path) -> Table:
    """Reads the file once, to know its languages. Raises `InputError` for one that is not well-formed or has
    no unit with a translation.
    """
    units = Counter(map(frozenset, iterate_units(file)))
    alone = sum(number for languages, number in units.items() if len(languages) < 2)
    languages = sorted(frozenset().union(*units))
    if alone == units.total():
        raise InputError(
            f"{file} has no unit with a translation; export the memory again as TMX, with its translations"
        )
    if alone:
        LOG.warning("%s: %d of %d units have no translation and are left out", file, alone, units.total())
    return Table(
        split=split_of(file),
        languages=tuple(languages),
        files=(file,),
        rows=partial(rows_of, file, languages),
    )


def rows_of(file: Path, languages: Sequence[str]) -> Iterator[Row]:
    """The units with a translation; `InputError` for a character that text must not hold, with the unit."""
    for number, unit in enumerate(iterate_units(file), start=1):
        if len(unit) > 1:
            row = tuple(unit.get(language, "") for language in languages)
            check_row(row, f"{file}, unit {number}")
            yield row


def iterate_units(file: Path) -> Iterator[dict[str, str]]:
    """The sentences of each unit by language, one unit in memory at a time."""
    elements = iterate_elements(file)
    _, root = next(elements)
    if root.tag != "tmx":
        raise InputError(f"{file} begins with <{root.tag}> and is no TMX, which begins with <tmx>")
    for event, element in elements:
        if event == "end" and element.tag == "tu":
            yield sentences_of(element, file)
            clear(root)


def iterate_elements(file: Path) -> Iterator[tuple[str, Element]]:
    """Where each element starts and ends; `InputError` for XML that is not well-formed."""
    try:
        yield from ElementTree.iterparse(file, events=("start", "end"))
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the latter two: an unknown encoding
        raise InputError(
            f"{file} is not well-formed XML ({error}); export the memory again as TMX, in UTF-8"
        ) from error


def clear(root: Element) -> None:
    """Forget the units that were read, and keep what they stand in."""
    for body in root.iter("body"):
        body.clear()


def sentences_of(unit: Element, file: Path) -> dict[str, str]:
    """The sentences of a unit, those without text left out."""
    found: dict[str, str] = {}
    for variant in unit.iter("tuv"):
        sentence = WHITE.sub(" ", text_of(variant.find("seg"))).strip()
        if not is_blank(sentence):
            found.setdefault(language_of(variant, file), sentence)
    return found


def language_of(variant: Element, file: Path) -> str:
    """The code of the language alone: en of en-GB or EN_US."""
    named = next((name for each in LANGUAGE if (name := variant.get(each))), "")
    code = re.split("[-_]", named)[0].lower()
    if not CODE.fullmatch(code):
        raise InputError(
            f"{file} has a sentence whose language is '{named}'; each <tuv> needs one, as in xml:lang=\"en\""
        )
    return code


def text_of(segment: Element | None) -> str:
    """The text of a sentence, without the markup in it; that of <hi> is part of the sentence."""
    if segment is None:
        return ""
    parts = [segment.text or ""]
    for child in segment:
        parts += ["" if child.tag in NATIVE else text_of(child), child.tail or ""]
    return "".join(parts)
