"""A look at parallel text before anything is made of it: how much there is, and some of it side by side."""

import random
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

from zsnmt.corpora.own_text.languages import all_sentence_pairs
from zsnmt.corpora.own_text.table import Row, Table
from zsnmt.corpora.parallel_text import SPLITS
from zsnmt.errors import InputError, OnFault
from zsnmt.processes import progress

SEED = 1  # of the choice of examples, which are the same each time
MOST_FAULTS = 10  # of a table that are told


class Overview:
    """What stands in tables, each of which is read once.

    `pairs`: the number of sentence pairs of each split, by pair of languages; `examples`: so many sentence
    pairs of training text as are to be `shown`, each of a pair of languages as likely as any other, in the
    order of the text; `decomposed`: by pair the number of sentence pairs with accents that are characters of
    their own; `faults`: what breaks a rule.
    """

    def __init__(self, tables: Sequence[Table], shown: int = 0) -> None:
        self.shown, self.chance = shown, random.Random(SEED)
        self.pairs: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
        self.decomposed: Counter[str] = Counter()
        self.faults: list[str] = []
        self.kept: dict[str, list[tuple[int, Row]]] = defaultdict(list)
        for table in tables:
            found = Faults()
            with found.also_raised():
                self.read(table, found)
            self.faults += found.told(table.files)

    @property
    def examples(self) -> dict[str, list[Row]]:
        return {pair: [row for _, row in sorted(rows)] for pair, rows in self.kept.items()}

    def read(self, table: Table, on_fault: OnFault) -> None:
        """Count the sentence pairs of a table; `InputError` for what ends the reading."""
        name = "-".join(table.languages)
        for pair, row in progress(sorted_pairs(table, on_fault), f"reading {name}", unit=" pairs"):
            number = self.pairs[table.split][pair]
            self.pairs[table.split][pair] += 1
            self.decomposed.update([pair] if any(map(is_decomposed, row)) else [])
            if table.split == "train" and self.shown:
                self.choose(number, row, self.kept[pair])

    def choose(self, number: int, row: Row, kept: list[tuple[int, Row]]) -> None:
        """Keep a sentence pair, or not, that is the `number`-th of its languages (reservoir sampling)."""
        if len(kept) < self.shown:
            kept.append((number, row))
        elif (place := self.chance.randrange(number + 1)) < self.shown:
            kept[place] = number, row


def is_decomposed(sentence: str) -> bool:
    """Whether a sentence has a letter and an accent for which Unicode has one character, as NFC has it."""
    if unicodedata.is_normalized("NFC", sentence):
        return False
    return len(unicodedata.normalize("NFC", sentence)) < len(sentence)  # of Indic letters NFC makes two


class Faults:
    """The faults in a text as they are found, of which the first ones are kept and others counted."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.last: list[str] = []  # what ended the reading
        self.more = 0

    def __call__(self, fault: InputError) -> None:
        if len(self.first) < MOST_FAULTS:
            self.first.append(str(fault))
        else:
            self.more += 1

    @contextmanager
    def also_raised(self) -> Iterator[None]:
        """Takes what is raised within, which ends the reading, for a fault as well."""
        try:
            yield
        except InputError as fault:
            self.last.append(str(fault))

    def told(self, files: Sequence[Path]) -> list[str]:
        """What is told of the faults of some files, which were read together."""
        more = [f"{', '.join(map(str, files))}: {self.more:,} more such faults"] if self.more else []
        return self.first + more + self.last


def sorted_pairs(table: Table, on_fault: OnFault) -> Iterator[tuple[str, Row]]:
    """The sentences of every two languages of a table, as `de-en` in alphabetical order."""
    pairs = [*combinations(sorted({*table.languages}), 2)]
    for pair, row in all_sentence_pairs(table, pairs, on_fault=on_fault):
        yield "-".join(pair), row
