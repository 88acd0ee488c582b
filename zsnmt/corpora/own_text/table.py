"""What every form of parallel text is read as: rows of sentences that are translations of each other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.text.lines import find_fault, is_blank

Row = tuple[str, ...]

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
    for what parallel text must not hold. `files` are all that is read.
    """

    split: str
    languages: tuple[str, ...]
    files: tuple[Path, ...]
    rows: Callable[[], Iterator[Row]]


def split_of(file: Path) -> str:
    """What a file is for that holds a whole table: train.tsv, valid.tsv (or dev.tsv) and test.tsv are for
    what their names say, all others are training text.
    """
    return SPLITS_BY_NAME.get(file.stem, "train")


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
