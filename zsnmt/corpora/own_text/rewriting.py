"""A person's text in zsnmt's own form, whatever its form was."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path

from zsnmt.corpora.own_text.languages import all_sentence_pairs, fewest_rows, pairs_of
from zsnmt.corpora.own_text.table import Table
from zsnmt.corpora.parallel_text import SPLITS
from zsnmt.files.replacing import replacing
from zsnmt.languages import Pair
from zsnmt.text.lines import encode

TOGETHER = 100  # pairs that are written at a time: each has two files open

OfTable = tuple[Table, Mapping[Pair, int]]  # a table, and how many rows it gives each pair


def write_parallel_text(
    tables: Sequence[Table], target: Path, languages: Sequence[str], *, all_pairs: bool = False
) -> None:
    """Write `{split}.{src}-{tgt}.{lang}` of all pairs between the languages that tables have, one table
    after the other.

    Of a row in several languages a held-out split has all pairs, and training text those with the pivot, or
    `all_pairs`, too.
    """
    given = [(table, pairs_of(table, languages, all_pairs=all_pairs)) for table in tables]
    for split in SPLITS:
        of_split = [(table, rows) for table, rows in given if table.split == split]
        pairs = [
            pair for pair in combinations(languages, 2) if has_enough(of_split, pair, pivot=languages[0])
        ]
        for start in range(0, len(pairs), TOGETHER):
            some = pairs[start : start + TOGETHER]
            files = {
                pair: [target / f"{split}.{'-'.join(pair)}.{language}" for language in pair] for pair in some
            }
            write_pairs(of_split, files, None if all_pairs else languages[0])


def has_enough(given: Sequence[OfTable], pair: Pair, pivot: str) -> bool:
    """Whether tables give two languages text, and not a few rows by an oversight alone."""
    having = [(table, rows[pair]) for table, rows in given if pair in rows]
    fewest = fewest_rows([table for table, _ in having], pair, pivot)
    return having != [] and sum(number for _, number in having) >= fewest


def write_pairs(given: Sequence[OfTable], files: Mapping[Pair, Sequence[Path]], pivot: str | None) -> None:
    """Write the files of some pairs; each table is read once for all of them."""
    lines: Counter[Pair] = Counter()
    with ExitStack() as stack:
        written = {
            pair: [stack.enter_context(replacing(path)) for path in paths] for pair, paths in files.items()
        }
        for table, rows in given:
            for pair, row in all_sentence_pairs(table, [pair for pair in files if pair in rows], pivot):
                lines[pair] += 1
                for path, file, sentence in zip(files[pair], written[pair], row, strict=True):
                    file.write(encode(sentence, path, lines[pair]))
