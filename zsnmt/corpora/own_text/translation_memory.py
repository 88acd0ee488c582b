"""Parallel text in a translation memory: a file in TMX, which the tools of translators write.

    <tu>
      <tuv xml:lang="en-GB"><seg>Good <bpt i="1">&lt;b></bpt>morning<ept i="1">&lt;/b></ept>.</seg></tuv>
      <tuv xml:lang="de-DE"><seg>Guten Morgen.</seg></tuv>
    </tu>

A unit (`tu`) is a row. Of `en-GB` the language alone counts, and of two variants of a language in a unit the
first; it is said how many others there are. Markup is left out, with what it holds, and a break of a line is
a space. A unit without a translation is no row, and they are counted. Source: TMX 1.4b, sections 2 and 3 (the
older `lang` is read as well).
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from zsnmt.corpora.own_text.columns import Placed, table_of_rows
from zsnmt.corpora.own_text.table import Table, on_one_line
from zsnmt.errors import InputError, OnFault, counted
from zsnmt.languages import CODE
from zsnmt.text.lines import is_blank
from zsnmt.text.unspaced import is_unspaced

logger = logging.getLogger(__name__)

LONGEST = 3  # letters of the code of a language
LANGUAGE = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")
NATIVE = ("bpt", "ept", "it", "ph", "ut", "sub")  # markup of the document that was translated
ALONE = ("ph", "it", "ut")  # which are not around words
BEFORE_WORDS = (*" \t\n\u00a0([{\"'\u00ab\u201c\u201e\u2018\u00bf\u00a1/-\u2013\u2014",)


def table_of_translation_memory(file: Path, on_fault: OnFault) -> Table:
    """Reads the file once, to know its languages, and says which sentences are passed over. Raises
    `InputError` for one that is not well-formed or has no unit with a translation.
    """
    second: Counter[str] = Counter()
    rows = partial(placed_units, file, second=second)
    table = table_of_rows(file, (), rows, what="units", on_fault=on_fault)
    if second:
        logger.warning(
            "%s: not read, since the unit has another sentence of the language before: %s; to train variants "
            "of a language, put each into a column of a spreadsheet, headed as pt_BR and pt_PT",
            file,
            ", ".join(f"{counted(number, 'sentence')} in '{name}'" for name, number in second.items()),
        )
    return table


def placed_units(file: Path, on_fault: OnFault, second: Counter[str]) -> Iterator[Placed]:
    """The sentences of each unit by language, with what a person calls it. A sentence without is a fault.

    `second`: how many sentences of each variant are passed over, since the language has another one, is added
    to it.
    """
    for number, unit in enumerate(iterate_units(file), start=1):
        place = f"{file}, unit {number}"
        try:
            sentences = sentences_of(unit, place, second)
        except InputError as fault:
            on_fault(fault)
        else:
            yield place, sentences


def iterate_units(file: Path) -> Iterator[Element]:
    """The units, one in memory at a time."""
    elements = iterate_elements(file)
    _, root = next(elements)
    if local_name(root) != "tmx":
        raise InputError(f"{file} begins with <{root.tag}> and is no TMX, which begins with <tmx>")
    for event, element in elements:
        if event == "end" and local_name(element) == "tu":
            yield element
            clear(root)


def iterate_elements(file: Path) -> Iterator[tuple[str, Element]]:
    """Where each element starts and ends; `InputError` for XML that is not well-formed."""
    try:
        yield from ElementTree.iterparse(file, events=("start", "end"))
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the latter two: an unknown encoding
        raise InputError(
            f"{file} is not well-formed XML ({error}); export the memory again as TMX, in UTF-8, or "
            "mend that line"
        ) from error


def clear(root: Element) -> None:
    """Forget the units that were read, and keep what they stand in."""
    for body in root.findall("{*}body"):
        body.clear()


def sentences_of(unit: Element, place: str, second: Counter[str]) -> dict[str, str]:
    """The sentences of a unit, those without text left out; `second` as for `placed_units`."""
    found: dict[str, str] = {}
    for variant in unit.findall("{*}tuv"):
        try:
            sentence = on_one_line(text_of(variant.find("{*}seg")))
        except RecursionError:
            raise InputError(
                f"{place} has markup within markup a thousand times; export it again without that"
            ) from None
        if not is_blank(sentence):
            named = next((name for each in LANGUAGE if (name := variant.get(each))), "")
            if found.setdefault(language_of(named, place), sentence) != sentence:
                second[named] += 1
    return found


def language_of(named: str, place: str) -> str:
    """The code of the language alone: en of en-GB or EN_US. The name of a language, English, is none."""
    code = re.split("[-_]", named)[0].lower()
    if not CODE.fullmatch(code) or (code.isalpha() and len(code) > LONGEST):
        raise InputError(
            f"{place} has a sentence whose language is '{named}'; each <tuv> needs the code of one, as in "
            'xml:lang="en"'
        )
    return code


def text_of(segment: Element | None) -> str:
    """The text of a sentence, without the markup in it; that of <hi> is part of the sentence. A word before
    which something was left out that stood alone, such as the break of a line, has a space before it.
    """
    if segment is None:
        return ""
    text = segment.text or ""
    for child in segment:
        after = child.tail or ""
        if local_name(child) not in NATIVE:
            text += text_of(child)
        elif local_name(child) in ALONE and not text.endswith(BEFORE_WORDS) and leaves_gap(text, after):
            text += " "
        text += after
    return text


def leaves_gap(before: str, after: str) -> bool:
    """Whether a word follows what stood alone, in a script with spaces between words."""
    return bool(before) and after[:1].isalnum() and not all(map(is_unspaced, before[-1] + after[0]))


def local_name(element: Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]
