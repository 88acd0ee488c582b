"""What every form of parallel text is read as: rows of sentences that are translations of each other."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path

from zsnmt.errors import InputError, OnFault
from zsnmt.languages import Pair
from zsnmt.text.lines import find_fault, is_blank

Row = tuple[str, ...]
Kinds = Mapping[frozenset[str], int]  # the languages that rows have together, with numbers of rows
State = tuple[Path, int, int]  # a file, its size, and when it was changed
LOOKED_THROUGH: dict[tuple[State, ...], Kinds] = {}

WHITE = re.compile(r"[ \t\n\r\x85\u2028\u2029\ufeff]+")  # not the spaces that belong to a sentence, as U+00A0

NAMES_SHOWN = 5
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
    for what parallel text must not hold, or gives it to its `on_fault` and passes the row over. `files` are
    all that is read. `counted`: how many rows have which languages, where they were looked through; else all
    have all. `apart` are pairs that have text of their own, to which this table gives none.
    """

    split: str
    languages: tuple[str, ...]
    files: tuple[Path, ...]
    rows: Callable[..., Iterator[Row]]  # of an `on_fault`, or of nothing: then it raises
    counted: Kinds | None = None
    apart: frozenset[frozenset[str]] = frozenset()

    @property
    def kinds(self) -> Kinds:
        """The languages that rows have together, with numbers of rows."""
        return self.counted or {frozenset(self.languages): 1}

    @cached_property
    def has_gaps(self) -> bool:
        """Whether any row lacks a language."""
        return any(len(kind) < len(self.languages) for kind in self.kinds)

    @property
    def pivots(self) -> set[str]:
        """The languages that could be the pivot: each other one stands in a row with them, and most rows have
        them.
        """
        number = sum(self.kinds.values())
        with_each = {
            language: [kind for kind in self.kinds if language in kind] for language in self.languages
        }
        return {
            language
            for language, kinds in with_each.items()
            if frozenset().union(*kinds) >= {*self.languages}
            and sum(self.kinds[kind] for kind in kinds) > number / 2
        }

    def rows_of_pairs(self, pivot: str | None = None) -> Counter[frozenset[str]]:
        """How many rows give text for each two languages (see `given`); 1 for all, where nobody counted."""
        number: Counter[frozenset[str]] = Counter()
        for kind, rows in self.kinds.items():
            pairs: Iterable[Iterable[str]] = combinations(kind, 2)
            if self.split == "train" and pivot is not None and pivot in kind:
                pairs = [(pivot, other) for other in kind if other != pivot]
            for pair in map(frozenset, pairs):
                number[pair] += rows * (pair not in self.apart)
        return +number

    def sentences(self, row: Row) -> dict[str, str]:
        """The sentences of a row by language."""
        return dict(zip(self.languages, row))

    def given(
        self, sentences: Mapping[str, str], pairs: Iterable[Pair], pivot: str | None = None
    ) -> list[Pair]:
        """Those of some pairs for which a row gives text: it has both sentences, and, where it is of training
        text, one of them is the pivot's or it has none of the pivot.
        """
        there = languages_of(sentences)
        with_pivot = self.split == "train" and pivot in there
        return [
            (one, other)
            for one, other in pairs
            if one in there and other in there and (not with_pivot or pivot in (one, other))
        ]


def on_one_line(text: str) -> str:
    """A text with single spaces in the place of line ends and tabs, and none around it."""
    return WHITE.sub(" ", text).strip()


def languages_of(sentences: Mapping[str, str]) -> frozenset[str]:
    """The languages in which a row has text."""
    return frozenset(language for language, sentence in sentences.items() if not is_blank(sentence))


def first_ones(names: Sequence[str]) -> str:
    """The first of some names, and whether there are more."""
    return ", ".join([*names[:NAMES_SHOWN], *(["..."] if len(names) > NAMES_SHOWN else [])])


def split_of(file: Path) -> str:
    """What a file is for that holds a whole table: by the first word of its name, as in test.tsv or
    dev.de-en.tmx; all others are training text.
    """
    first = re.match("[a-z]*", file.name.lower())
    return SPLITS_BY_NAME.get(first[0] if first else "", "train")


def look_for_gaps(table: Table, on_fault: OnFault) -> Table:
    """A table that knows which languages its rows lack; of more than two languages it is read through."""
    if len(table.languages) < 3:
        return table
    return replace(table, counted=count_once(table.files, lambda: map(table.sentences, table.rows(on_fault))))


def count_once(files: Sequence[Path], rows: Callable[[], Iterable[Mapping[str, str]]]) -> Kinds:
    """How many rows of files have which languages; they are read once as long as they stay the same."""
    states = tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    if states not in LOOKED_THROUGH:
        LOOKED_THROUGH[states] = Counter(map(languages_of, rows()))
    return LOOKED_THROUGH[states]


def fault_of(row: Sequence[str], place: str) -> InputError | None:
    """What is wrong with a row: a character that parallel text must not hold, or no two sentences."""
    for sentence in row:
        if fault := find_fault(sentence):
            return InputError(f"{place} {fault}")
    if sum(not is_blank(sentence) for sentence in row) < 2:
        return InputError(
            f"{place} has no sentence with a translation; write sentences of two or more languages there, or "
            "remove it"
        )
    return None
