"""Validation and test sets for text that has none: taken from its training text by a rule.

The sentence pairs of a pair are put in an order that follows from the seed and the pivot's sentence alone.
The first of them are the test set, the next the validation set. So pairs that have sentences of the pivot in
common hold out the same ones, and the direction between them has a test set as well.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heappush, heapreplace
from itertools import combinations, compress, count, islice
from pathlib import Path

from zsnmt.corpora.cleaning import LONGEST
from zsnmt.corpora.overlap import normalise, normalised_sentences
from zsnmt.corpora.parallel_text import FEWEST_TO_TEST, SPLITS, find_pair, pairs_of_split, write_rows
from zsnmt.errors import InputError
from zsnmt.languages import Pair
from zsnmt.text.lines import iterate_lines, write_lines

SHARE = 20  # at most one sentence pair in so many becomes a test set, and as many a validation set
LOOKED_AT = 10  # times as many different sentences as a set has, at least: of some another set has one


def hold_out(text: Path, languages: Sequence[str], most: int, seed: int = 1) -> None:
    """Take test and validation sets from the training text of every pair that lacks them, in place.

    A set has `most` sentence pairs, and at most a twentieth of its pair and a tenth of the different
    sentences that the pivot has there. `languages`: the pivot first. None of its sentences is in a set of the
    other split of a trained pair, compared as in `zsnmt.corpora.overlap`, or longer than cleaning leaves in
    training text; what training text has of them besides is left to `make_training_text`. Test sets of other
    pairs, which may be added later, change no choice. Raises `InputError` for a pair too small.
    """
    trained = pairs_of_split(text, "train", languages)
    taken = sentences_of_sets(text, trained, languages)
    rows_of: dict[Pair, dict[int, Pair]] = {}
    number: dict[Pair, int] = {}
    for pair in trained:
        first, lines = first_lines(text, pair, LOOKED_AT * most, seed=seed)
        rows_of[pair] = rows_at(text, pair, first)
        number[pair] = max(1, min(set_size(lines, most), len(first) // LOOKED_AT))
    out: dict[Pair, set[int]] = {pair: set() for pair in trained}
    for split in ("test", "valid"):
        there = pairs_of_split(text, split, languages)
        sets = {pair: choose(rows_of[pair], number[pair], taken) for pair in trained if pair not in there}
        for pair, chosen in sets.items():
            if not chosen:
                raise InputError(
                    f"{'-'.join(pair)} has no sentence left for a {split} set that is not in another set and "
                    f"of at most {LONGEST} characters; give {split} sets of your own beside the training text"
                )
            out[pair] |= chosen.keys()
            taken |= normalised_sentences(chosen.values())
        rows = {pair: [*chosen.values()] for pair, chosen in sets.items()}
        if split == "test":
            rows |= {pair: of_pair for pair, of_pair in shared(rows, languages) if pair not in there}
        for pair, of_pair in rows.items():
            write_rows(text, f"{split}.{'-'.join(pair)}", pair, rows=of_pair)
    for pair, removed in out.items():
        leave_out(text, pair, removed)


def sentences_of_sets(text: Path, pairs: Sequence[Pair], languages: Sequence[str]) -> set[str]:
    """The normalised sentences of the held-out sets that some pairs have."""
    there = ((split, pair) for split in SPLITS[1:] for pair in pairs_of_split(text, split, languages))
    files = {file for split, pair in there if pair in pairs for file in find_pair(text, split, *pair)}
    return {normalise(line) for file in files for line in iterate_lines(file)}


def set_size(lines: int, most: int) -> int:
    """The sentence pairs of each set that is taken from so many lines of a pair."""
    return max(1, min(most, lines // SHARE))


def first_lines(text: Path, pair: Pair, number: int, seed: int) -> tuple[list[int], int]:
    """The first lines of a pair, counted from 0, in the order of the checksums of the pivot's sentences, of
    lines with the same sentence one; and how many lines there are.
    """
    first, _ = find_pair(text, "train", *pair)  # the pivot's where the pair has it
    kept: dict[int, int] = {}
    largest: list[int] = []  # a heap of the checksums kept, negative, so that the largest comes first
    line = -1
    for line, sentence in enumerate(iterate_lines(first)):
        digest = hashlib.blake2b(f"{seed} {normalise(sentence)}".encode(), digest_size=8).digest()
        rank = int.from_bytes(digest, "big")
        if rank in kept:
            continue
        if len(largest) < number:
            heappush(largest, -rank)
        elif rank < -largest[0]:
            del kept[-heapreplace(largest, -rank)]
        else:
            continue
        kept[rank] = line
    return [kept[rank] for rank in sorted(kept)], line + 1


def rows_at(text: Path, pair: Pair, lines: Sequence[int]) -> dict[int, Pair]:
    """The sentences of lines, counted from 0, in the order in which they are given."""
    wanted = {*lines}
    sides = zip(*map(iterate_lines, find_pair(text, "train", *pair)))
    rows = {line: row for line, row in enumerate(sides) if line in wanted}
    return {line: rows[line] for line in lines}


def choose(rows: Mapping[int, Pair], number: int, taken: Collection[str]) -> dict[int, Pair]:
    """The first of the rows, so many, without a sentence that is taken or too long."""
    free = (
        line
        for line, row in rows.items()
        if not any(normalise(sentence) in taken or len(sentence) > LONGEST for sentence in row)
    )
    return {line: rows[line] for line in islice(free, number)}


def shared(
    rows: Mapping[Pair, Sequence[Pair]], languages: Sequence[str]
) -> Iterator[tuple[Pair, list[Pair]]]:
    """The test sets between languages other than the pivot: what the sets of both have in common, by the
    pivot's sentence, where that is enough.
    """
    pivot, *others = languages
    of_language = {language: dict(rows.get((pivot, language), ())) for language in others}
    for one, other in combinations(others, 2):
        common = [sentence for sentence in of_language[one] if sentence in of_language[other]]
        fewest = min(FEWEST_TO_TEST, len(of_language[one]), len(of_language[other]))
        if common and len(common) >= fewest and (one, other) not in rows:
            yield (one, other), [(of_language[one][each], of_language[other][each]) for each in common]


def leave_out(text: Path, pair: Pair, lines: Collection[int]) -> None:
    """Remove lines of a pair from the training text."""
    for file in find_pair(text, "train", *pair):
        write_lines(file, compress(iterate_lines(file), (line not in lines for line in count())))
