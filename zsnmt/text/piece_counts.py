"""How often each language uses each piece: `piece_counts.tsv`, beside the dictionary and with every run.

A line is a language, a piece and its number in the language's training text, with tabs between. A piece
that a language does not use there has no line. Tags, EOS and unknown pieces are not counted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.records import check_file, damage_of
from zsnmt.files.replacing import replacing

PIECE_COUNTS_FILE = "piece_counts.tsv"
REMEDY = "count again with: zsnmt count-pieces RUN; in a folder of data, make the data again"

PieceCounts = Mapping[str, Mapping[str, int]]  # of a language: how often a piece occurs; no line for 0


def write_piece_counts(folder: Path, counts: Mapping[str, Counter[str]]) -> None:
    """Write the file of some languages, in their order, the most frequent pieces first."""
    with replacing(folder / PIECE_COUNTS_FILE) as file:
        for language, of_language in counts.items():
            for piece, number in sorted(of_language.items(), key=lambda item: (-item[1], item[0])):
                file.write(f"{language}\t{piece}\t{number}\n".encode())


def merge_piece_counts(
    before: Mapping[str, Counter[str]], now: Mapping[str, Counter[str]], languages: Sequence[str]
) -> dict[str, Counter[str]]:
    """The counts of two texts that may share lines: of each language and piece the larger one."""
    return {each: before.get(each, Counter()) | now.get(each, Counter()) for each in languages}


def read_piece_counts(folder: Path) -> dict[str, Counter[str]]:
    """How often each language uses each piece, from a folder of binarised data or the pipeline of a run.

    `InputError` where the file is missing, as in runs that are older than it is, or damaged.
    """
    path = folder / PIECE_COUNTS_FILE
    check_file(path)
    if not path.is_file():
        raise InputError(f"{path} is missing, which says what pieces each language uses; {REMEDY}")
    counts: dict[str, Counter[str]] = {}
    with damage_of(path, REMEDY):
        for line in path.read_bytes().decode("utf-8").removesuffix("\n").split("\n"):
            language, piece, number = line.split("\t")
            if not number.isdecimal() or not int(number) or piece in counts.get(language, ()):
                raise ValueError(f"'{line}' is not the number of a piece")
            counts.setdefault(language, Counter())[piece] = int(number)
    return counts
