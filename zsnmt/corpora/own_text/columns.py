"""Columns of sentences, each with the code of its language at its head, and others that are passed over."""

import logging
import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from textwrap import shorten

from zsnmt.corpora.own_text.table import Row, Table, count_once, fault_of, first_ones, split_of
from zsnmt.errors import InputError, OnFault, refuse
from zsnmt.languages import check_languages
from zsnmt.text.iso_639 import THREE_LETTERS
from zsnmt.text.lines import is_blank

logger = logging.getLogger(__name__)

HEAD = 30  # characters that are shown of the head of a column
CODE = re.compile(r"[a-z]{2,3}([-_][A-Za-z0-9]+)*")  # en, gsw, pt-BR, zh_Hans
# Of columns of other things, though some are codes of small languages, too.
OTHER_HEADS = {*"doc idx key num pos ref row seq src tag tgt uid url".split()}
UNCLEAR = {*"id no".split()}  # in capitals more often heads of numbers
NUMBER = re.compile(r"[\d.,:/ -]+")  # or a date
FIRST = 100  # rows that tell whether a column is of numbers

Placed = tuple[str, Mapping[str, str]]  # the place of a row, as a person calls it, and its sentences
Rows = Callable[[OnFault], Iterator[Placed]]


def languages_of_columns(heads: Sequence[str], place: str) -> dict[int, str]:
    """The languages of columns, by their number, those that are of none left out.

    `place` is where the heads stand. Of `en-GB` the language alone counts, as in a translation memory;
    `pt_BR` is a language to itself, and so is `key_Latn`, where `key` is taken for the head of other things.
    `InputError` for heads that do not name two languages, each once.
    """
    codes = enumerate(map(without_capitals, map(str.strip, heads)))
    named = {number: head for number, head in codes if CODE.fullmatch(head) and head not in OTHER_HEADS}
    languages = {number: head.split("-")[0] for number, head in named.items()}
    try:
        check_languages(languages.values())
    except InputError as error:
        twice = [head for number, head in named.items() if Counter(languages.values())[languages[number]] > 1]
        remedy = (
            f"; write {' and '.join(twice).replace('-', '_')}" if any("-" in head for head in twice) else ""
        )
        there = [f"'{shorten(head, HEAD, placeholder=' ...')}'" for head in heads if head.strip()]
        why = f": {error}{remedy}"
        if len(named) < 2:
            why = "; put two codes or more there, in small letters, and nothing above them"
        raise InputError(
            f"{place} must name the language of each column by its code, as in en and de, and has "
            f"{first_ones(there) or 'nothing'}{why}"
        ) from error
    return languages


def without_capitals(head: str) -> str:
    """A head with the code of a well-known language in small letters: `pt-BR` for `PT-BR`; others as they
    are, and those that may well mean something else in capitals, as `ID` and `No`.
    """
    code = head[:2].lower()
    known = code in THREE_LETTERS.keys() - UNCLEAR and head[2:3] in ("", "-", "_")
    return code + head[2:] if known else head


def say_others(heads: Sequence[str], languages: Mapping[int, str], file: Path) -> None:
    """Say which columns are passed over."""
    others = [head.strip() for number, head in enumerate(heads) if number not in languages and head.strip()]
    if others:
        logger.warning(
            "%s: read are the columns %s; not read, since they have no code of a language at their head: %s",
            file,
            " ".join(languages.values()),
            ", ".join(f"'{other}'" for other in others),
        )


def table_of_rows(
    file: Path, languages: Sequence[str], rows: Rows, *, what: str = "rows", on_fault: OnFault
) -> Table:
    """A table of some languages, or without these of all that its rows have, which is counted by one reading.

    `rows` reads the file anew; those without a translation are left out, and it is said how many.
    A column of numbers is of no language, whatever its head. `InputError` where all are, or there are none;
    other faults are given to `on_fault`.
    """
    if numbers := say_numbers(rows, languages, file):
        rows = partial(rows_without, rows, numbers)
        languages = [language for language in languages if language not in numbers]
    counted = count_once([file], lambda: translated((row for _, row in rows(on_fault)), file, what))
    if not counted:
        deque(rows(refuse), maxlen=0)  # what is wrong with the rows, if that is why there are none
        raise InputError(
            f"{file} has no {what.removesuffix('s')} with a translation; write sentences of two languages "
            "beside each other"
        )
    found = frozenset().union(*counted)
    there = tuple(language for language in languages or sorted(found) if language in found)
    if empty := [language for language in languages if language not in found]:
        logger.warning("%s: no sentence that has a translation is of %s", file, " or ".join(empty))
    return Table(split_of(file), there, (file,), rows=partial(checked_rows, rows, there), counted=counted)


def say_numbers(rows: Rows, languages: Sequence[str], file: Path) -> list[str]:
    """The languages of columns that hold numbers; says that these are passed over."""
    if numbers := columns_of_numbers(rows, languages) if languages else []:
        logger.warning("%s: not read, since they hold numbers: the columns %s", file, " ".join(numbers))
    return numbers


def columns_of_numbers(rows: Rows, languages: Sequence[str]) -> list[str]:
    """The languages whose first sentences are numbers alone, such as those of articles below `id`."""
    first = [sentences for _, sentences in islice(rows(lambda fault: None), FIRST)]
    found = {language: [row[language] for row in first if row.get(language)] for language in languages}
    return [language for language, of_one in found.items() if of_one and all(map(NUMBER.fullmatch, of_one))]


def rows_without(rows: Rows, languages: Collection[str], on_fault: OnFault) -> Iterator[Placed]:
    """The rows without the sentences of some languages."""
    for place, sentences in rows(on_fault):
        yield place, {name: sentence for name, sentence in sentences.items() if name not in languages}


def translated(rows: Iterable[Mapping[str, str]], file: Path, what: str) -> Iterator[Mapping[str, str]]:
    """The rows with a translation; at their end it says how many others there are beside them."""
    number = alone = 0
    for number, row in enumerate(rows, start=1):
        if has_translation(row):
            yield row
        else:
            alone += 1
    if 0 < alone < number:
        logger.warning("%s: %d of %d %s have no translation and are left out", file, alone, number, what)


def checked_rows(rows: Rows, languages: Sequence[str], on_fault: OnFault = refuse) -> Iterator[Row]:
    """The rows with a translation; `InputError` for a character that text must not hold, with the place."""
    for place, sentences in rows(on_fault):
        if has_translation(sentences):
            row = tuple(sentences.get(language, "") for language in languages)
            if fault := fault_of(row, place):
                on_fault(fault)
            else:
                yield row


def has_translation(sentences: Mapping[str, str]) -> bool:
    """Whether there are sentences in two languages."""
    return sum(not is_blank(sentence) for sentence in sentences.values()) > 1
