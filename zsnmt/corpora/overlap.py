"""Overlap between training and held-out text: sentences of a validation or test set that training also has.

Sentences are compared normalised: Unicode NFKC, case folded, only letters, marks and digits, words parted
by single spaces; characters without a look, such as joiners and soft hyphens, part no word. A training pair
overlaps when either of its sides is a held-out sentence of any language.
"""

import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from zsnmt.corpora.parallel_text import SPLITS, find_pair, iterate_rows, pairs_of_split
from zsnmt.text.lines import iterate_lines

Row = TypeVar("Row", bound=Sequence[str])  # a sentence of each language


class Place(NamedTuple):
    """A line of a file, counted from 1."""

    file: Path
    line: int


class Overlap(NamedTuple):
    """A side of a training pair and the first held-out place with the same sentence."""

    training: Place
    held_out: Place
    sentence: str

    @property
    def split(self) -> str:
        return self.held_out.file.name.split(".")[0]


class Bare(dict):
    """For `str.translate`: a space for each character that is not a letter, mark or number, nothing for a
    format character.
    """

    def __missing__(self, code: int) -> int | str:
        category = unicodedata.category(chr(code))
        self[code] = code if category[0] in "LMN" else "" if category == "Cf" else " "
        return self[code]


BARE = Bare()


def normalise(sentence: str) -> str:
    """What is compared of a sentence; of one without letters and digits, all but its spaces."""
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    return " ".join(folded.translate(BARE).split()) or "".join(folded.split())


def normalised_sentences(rows: Iterable[Sequence[str]]) -> set[str]:
    """All sentences of rows, as they are compared."""
    return {normalise(sentence) for row in rows for sentence in row}


def without_sentences(rows: Iterable[Row], sentences: Container[str]) -> list[Row]:
    """The rows of which no sentence is among normalised sentences."""
    return [row for row in rows if not any(normalise(sentence) in sentences for sentence in row)]


def held_out_files(text: Path, languages: Sequence[str], splits: Sequence[str] = SPLITS[1:]) -> list[Path]:
    """The files of all validation and test sets between the languages, or of one of them, each once."""
    return list(
        dict.fromkeys(
            file
            for split in splits
            for pair in pairs_of_split(text, split, languages)
            for file in find_pair(text, split, *pair)
        )
    )


def held_out_sentences(
    text: Path, languages: Sequence[str], splits: Sequence[str] = SPLITS[1:]
) -> dict[str, Place]:
    """The normalised sentences of the held-out files, each with its first place."""
    places: dict[str, Place] = {}
    for file in held_out_files(text, languages, splits):
        for number, line in enumerate(iterate_lines(file), start=1):
            places.setdefault(normalise(line), Place(file, number))
    return places


def find_overlaps(
    text: Path, pair: tuple[str, str], held_out: Mapping[str, Place]
) -> Iterator[list[Overlap]]:
    """For each line of a training pair its overlaps: none, one, or one for each side."""
    files = find_pair(text, "train", *pair)
    for number, sides in enumerate(iterate_rows(files), start=1):
        yield overlaps_of_line(files, number, sides, held_out=held_out)


def overlaps_of_line(
    files: Sequence[Path], number: int, sides: Sequence[str], held_out: Mapping[str, Place]
) -> list[Overlap]:
    return [
        Overlap(Place(file, number), place, side)
        for file, side in zip(files, sides)
        if (place := held_out.get(normalise(side)))
    ]
