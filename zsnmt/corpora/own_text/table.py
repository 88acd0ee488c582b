"""What every form of parallel text is read as: rows of sentences that are translations of each other."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.text.lines import find_fault, is_blank

Row = tuple[str, ...]
RARE = 0.5  # share of the rows: a language that fewer have is not what they have in common

SPLITS_BY_NAME = {  # what people call them
    "train": "train",
    "valid": "valid",
    "validation": "valid",
    "dev": "valid",
    "test": "test",
}


@dataclass(frozen=True)
class Table:
    """Rows with a sentence of each language, of one split. An empty sentence is none.

    `rows` reads the files anew at each call, a row at a time, and raises `InputError`, with file and line,
    for what parallel text must not hold. `files` are all that is read. `rare` are the languages that most
    rows lack; `has_gaps` says whether any row lacks one. `apart` are pairs that have text of their own, to
    which this table gives none.
    """

    split: str
    languages: tuple[str, ...]
    files: tuple[Path, ...]
    rows: Callable[[], Iterator[Row]]
    rare: frozenset[str] = frozenset()
    has_gaps: bool = False
    apart: frozenset[frozenset[str]] = frozenset()

    @property
    def common(self) -> set[str]:
        """The languages that most rows have."""
        return {*self.languages} - self.rare

    def gives(self, sentences: Mapping[str, str], pair: tuple[str, str], pivot: str | None = None) -> bool:
        """Whether a row gives text for a pair: it has both sentences, and, where it is of training text, one
        of them is the pivot's or it has none of the pivot.
        """
        if any(is_blank(sentences[language]) for language in pair):
            return False
        return self.split != "train" or pivot in pair or is_blank(sentences.get(pivot or "", ""))


def split_of(file: Path) -> str:
    """What a file is for that holds a whole table: by the first word of its name, as in test.tsv or
    dev.de-en.tmx; all others are training text.
    """
    first = re.match("[a-z]*", file.name.lower())
    return SPLITS_BY_NAME.get(first[0] if first else "", "train")


def look_for_gaps(table: Table) -> Table:
    """A table that says which languages its rows lack; of more than two it is read through once."""
    if len(table.languages) < 3:
        return table
    rows = Counter(
        frozenset(language for language, sentence in zip(table.languages, row) if not is_blank(sentence))
        for row in table.rows()
    )
    return note_gaps(table, rows)


def note_gaps(table: Table, rows: Mapping[frozenset[str], int]) -> Table:
    """The same where the rows are counted already, by their languages."""
    number = sum(rows.values())
    there = {
        language: sum(count for languages, count in rows.items() if language in languages)
        for language in table.languages
    }
    return replace(
        table,
        rare=frozenset(language for language, count in there.items() if count < RARE * number),
        has_gaps=any(count < number for count in there.values()),
    )


def check_row(row: Sequence[str], place: str) -> None:
    """`InputError` for a row with a character that parallel text must not hold, or without two sentences."""
    for sentence in row:
        if fault := find_fault(sentence):
            raise InputError(f"{place} {fault}")
    if sum(not is_blank(sentence) for sentence in row) < 2:
        raise InputError(
            f"{place} has no sentence with a translation; write sentences of two or more languages there, or "
            "remove it"
        )
