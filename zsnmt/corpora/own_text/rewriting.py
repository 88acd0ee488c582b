"""A person's text in zsnmt's own form, whatever its form was."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from zsnmt.corpora.own_text.languages import Pair, all_sentence_pairs, fewest_rows, pairs_of
from zsnmt.corpora.own_text.table import Row, Table
from zsnmt.text.lines import write_rows_of_lines


def write_parallel_text(
    tables: Sequence[Table], target: Path, languages: Sequence[str], *, all_pairs: bool = False
) -> None:
    """Write `{split}.{src}-{tgt}.{lang}` of all pairs between the languages that tables have, one table
    after the other.

    Of a row in several languages a held-out split has all pairs, and training text those with the pivot, or
    `all_pairs`, too.
    """
    parts: dict[tuple[str, Pair], list[Table]] = {}
    for table in tables:
        for pair in pairs_of(table, languages, all_pairs=all_pairs):
            parts.setdefault((table.split, pair), []).append(table)
    for (split, pair), of_pair in parts.items():
        rows = sentence_pairs(of_pair, pair, None if all_pairs else languages[0])
        fewest = fewest_rows(of_pair, pair, languages[0])
        first = [*islice(rows, fewest)]
        if len(first) < fewest:
            continue  # a table in several languages may have no row in two of them
        files = [target / f"{split}.{'-'.join(pair)}.{language}" for language in pair]
        write_rows_of_lines(files, chain(first, rows))


def sentence_pairs(tables: Sequence[Table], pair: Pair, pivot: str | None) -> Iterator[Row]:
    """The sentences of two languages in rows that give text for them."""
    for table in tables:
        for _, row in all_sentence_pairs(table, [pair], pivot):
            yield row
