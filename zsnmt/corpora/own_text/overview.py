"""A look at parallel text before anything is made of it: how much there is, and some of it side by side."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from zsnmt.corpora.own_text.languages import all_sentence_pairs
from zsnmt.corpora.own_text.table import Row, Table
from zsnmt.corpora.parallel_text import SPLITS
from zsnmt.errors import InputError
from zsnmt.processes import progress
from zsnmt.text.lines import find_faults

SEED = 1  # of the choice of examples, which are the same each time
MOST_FAULTS = 10  # of a file that are shown


class Overview:
    """What stands in tables, each of which is read once.

    `pairs`: the number of sentence pairs of each split, by pair of languages; `examples`: so many sentence
    pairs of training text as are to be `shown`, each of a pair of languages as likely as any other, in the
    order of the text; `faults`: what breaks a rule.
    """

    def __init__(self, tables: Sequence[Table], shown: int = 0) -> None:
        self.shown, self.chance = shown, random.Random(SEED)
        self.pairs: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
        self.faults: list[str] = []
        self.kept: dict[str, list[tuple[int, Row]]] = defaultdict(list)
        for table in tables:
            try:
                self.read(table)
            except InputError as error:
                self.faults += [*faults_of(table)] or [str(error)]

    @property
    def examples(self) -> dict[str, list[Row]]:
        return {pair: [row for _, row in sorted(rows)] for pair, rows in self.kept.items()}

    def read(self, table: Table) -> None:
        """Count the sentence pairs of a table; `InputError` for the first fault in it."""
        name = "-".join(table.languages)
        for pair, row in progress(sorted_pairs(table), f"reading {name}", unit=" pairs"):
            number = self.pairs[table.split][pair]
            self.pairs[table.split][pair] += 1
            if table.split == "train" and self.shown:
                self.choose(number, row, self.kept[pair])

    def choose(self, number: int, row: Row, kept: list[tuple[int, Row]]) -> None:
        """Keep a sentence pair, or not, that is the `number`-th of its languages (reservoir sampling)."""
        if len(kept) < self.shown:
            kept.append((number, row))
        elif (place := self.chance.randrange(number + 1)) < self.shown:
            kept[place] = number, row


def faults_of(table: Table) -> Iterator[str]:
    """What breaks a rule in the lines of a table's files, some of each; nothing for other forms of text."""
    for file in table.files if table.by_line else ():
        faults = find_faults(file)
        yield from islice(faults, MOST_FAULTS)
        if more := sum(1 for _ in faults):
            yield f"{file}: {more:,} more lines of this file"


def sorted_pairs(table: Table) -> Iterator[tuple[str, Row]]:
    """The sentences of every two languages of a table, as `de-en` in alphabetical order."""
    pairs = [*combinations(sorted({*table.languages}), 2)]
    for pair, row in all_sentence_pairs(table, pairs):
        yield "-".join(pair), row
