"""A look at parallel text before anything is made of it: how much there is, and some of it side by side."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from zsnmt.corpora.own_text.languages import all_sentence_pairs
from zsnmt.corpora.own_text.table import Row, Table
from zsnmt.corpora.parallel_text import SPLITS
from zsnmt.processes import progress

SEED = 1  # of the choice of examples, which are the same each time


@dataclass
class Overview:
    """The sentence pairs of each split, by pair of languages, and some of the training text, at random."""

    pairs: dict[str, Counter[str]] = field(default_factory=lambda: {split: Counter() for split in SPLITS})
    examples: dict[str, list[Row]] = field(default_factory=dict)


def look_at(tables: Sequence[Table], shown: int = 0) -> Overview:
    """Read all tables once; `InputError` for a fault in the text. `shown`: the examples of each pair, each
    sentence pair of it as likely as any other, in the order of the text.
    """
    seen, chance = Overview(), random.Random(SEED)
    kept: dict[str, list[tuple[int, Row]]] = {}
    for table in tables:
        name = "-".join(table.languages)
        for pair, row in progress(sorted_pairs(table), f"reading {name}", unit=" pairs"):
            number = seen.pairs[table.split][pair]
            seen.pairs[table.split][pair] += 1
            if table.split != "train":
                continue
            examples = kept.setdefault(pair, [])
            if len(examples) < shown:
                examples.append((number, row))
            elif shown and (place := chance.randrange(number + 1)) < shown:
                examples[place] = number, row
    seen.examples = {pair: [row for _, row in sorted(rows)] for pair, rows in kept.items()}
    return seen


def sorted_pairs(table: Table) -> Iterator[tuple[str, Row]]:
    """The sentences of every two languages of a table, as `de-en` in alphabetical order."""
    pairs = [*combinations(sorted({*table.languages}), 2)]
    for pair, row in all_sentence_pairs(table, pairs):
        yield "-".join(pair), row
