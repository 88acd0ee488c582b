"""What is left out of training text: lists of it beside the text, counts, and words for a person."""

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from zsnmt.corpora.cleaning import RULES, Cleaning
from zsnmt.corpora.judging import OVERLAP, OVERLAPS, Judged
from zsnmt.corpora.overlap import Overlap
from zsnmt.corpora.parallel_text import SPLITS
from zsnmt.files.kinds import check_kinds
from zsnmt.files.records import CLEANING_FILE, damage_of, read_json
from zsnmt.files.replacing import replacing

LISTS = OVERLAP_LIST, CLEANING_LIST = "overlap.tsv", "cleaning.tsv"  # beside the text: what is left out of it


def words_of(left_out: Mapping[str, int]) -> str:
    """The counts by rule, in words."""
    return ", ".join(f"{number:,} ({rule})" for rule, number in left_out.items() if number)


def cleaning_record(cleaning: Cleaning, judged: Sequence[Judged], kept: Mapping[str, int]) -> dict:
    """What `cleaning.json` says: the rules, and by pair how many lines there are, overlap, are left out by
    each rule, and are written, which `kept` has by the name of the pair.
    """
    return {
        "rules": str(cleaning),
        "pairs": {
            each.name: {
                "lines": len(each.verdicts),
                OVERLAP: each.verdicts.count(OVERLAPS),
                **{rule: each.left_out[rule] for rule in cleaning.rules},
                "kept": kept[each.name],
            }
            for each in judged
        },
    }


def cleaning_in_words(text: Path) -> str:
    """How many training pairs cleaning left out of text, by which rules, and what to do if they are most."""
    pairs = read_json(text / CLEANING_FILE, "clean the text again")["pairs"].values()
    left_out = {rule: sum(pair.get(rule, 0) for pair in pairs) for rule in RULES}
    lines, number = sum(pair["lines"] for pair in pairs), sum(left_out.values())
    by_rule = f": {words_of(left_out)}; {CLEANING_LIST} beside the text lists them" if number else ""
    rule = max(left_out, key=left_out.__getitem__)
    remedy = f". That is most of the text; without the rule {rule} more is kept" if number > lines / 2 else ""
    return f"cleaning leaves out {number:,} of {lines:,} training pairs{by_rule}{remedy}"


def read_overlap(path: Path, remedy: str) -> dict[str, dict[str, int]]:
    """The counts by training pair that an overlap.json says; `InputError` with the remedy if it is missing or
    damaged.
    """
    counts = read_json(path, remedy)
    with damage_of(path, remedy):
        for pair in counts.values():
            check_kinds(pair, dict.fromkeys(("lines", *SPLITS[1:], "removed"), int))
    return counts


def list_overlaps(path: Path, overlaps: Iterable[Iterable[Overlap]]) -> None:
    """Write a list of overlaps; see `write_overlaps`."""
    with replacing(path) as file:
        write_overlaps(file, chain.from_iterable(overlaps))


def write_overlaps(file: BinaryIO, overlaps: Iterable[Overlap]) -> None:
    """One line for each side that overlaps: training file and line, held-out file and line, sentence
    (TSV).
    """
    for training, held_out, sentence in overlaps:
        places = (training.file.name, training.line, held_out.file.name, held_out.line)
        write_row(file, (*map(str, places), sentence))


def write_row(file: BinaryIO, cells: Iterable[str]) -> None:
    """A line of cells with tabs between them, and none in them."""
    file.write("\t".join(cell.replace("\t", " ") for cell in cells).encode("utf-8") + b"\n")


def join_lists(parts: Sequence[Path], whole: Path | None) -> None:
    """Put lists one behind the other, into one file if it is wanted, and remove them."""
    if whole:
        with replacing(whole) as file:
            for part in parts:
                with part.open("rb") as rows:
                    shutil.copyfileobj(rows, file)
    for part in parts:
        part.unlink()


def say_what_is_left_out(counts: Mapping[str, Mapping[str, int]], text: Path) -> None:
    """Tell of the training pairs that overlap with held-out sets, if there are any, and of what the rules of
    cleaning left out of `text`, if it was cleaned.
    """
    if removed := sum(pair["removed"] for pair in counts.values()):
        print(
            f"{removed} training pairs overlap with the validation or test sets and were left out; "
            f"{OVERLAP_LIST} beside the text lists them",
            file=sys.stderr,
        )
    if (text / CLEANING_FILE).is_file():
        print(cleaning_in_words(text), file=sys.stderr)
