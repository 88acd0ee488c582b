"""Text to train on, from text as it comes: without overlap with held-out sets, cleaned, of a bounded size.

Every training pair is read twice, to judge its lines, which processes share, and to write those that are
kept. In memory are the sentences of the held-out sets, a byte for each line, and while a pair is cleaned 8
bytes a line for each of the two rules on repetitions, while a part of it is drawn 8 bytes a line.
"""

import math
import random
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from tqdm import tqdm

from zsnmt.corpora.cleaning import RULES, Cleaner, Cleaning, make_cleaners, repetitions
from zsnmt.corpora.overlap import (
    Overlap,
    Place,
    find_overlaps,
    held_out_files,
    held_out_sentences,
    normalise,
    overlaps_of_line,
)
from zsnmt.corpora.parallel_text import SPLITS, check_corpus, find_pair, iterate_rows, pairs_of_split
from zsnmt.errors import InputError
from zsnmt.files.kinds import check_kinds
from zsnmt.files.records import CLEANING_FILE, OVERLAP_FILE, damage_of, read_json, write_json
from zsnmt.files.replacing import replacing
from zsnmt.languages import parse_direction
from zsnmt.processes import map_in_processes, progress

Pair = tuple[str, str]
Row = tuple[str, ...]
BLOCK = 2000  # lines that a process judges at a time
LISTS = OVERLAP_LIST, CLEANING_LIST = "overlap.tsv", "cleaning.tsv"  # beside the text: what is left out of it
OVERLAP = "overlap"
FAULTS = ("", OVERLAP, *RULES)  # of a line, the first that it has
KEPT, OVERLAPS = 0, 1  # their numbers


def parse_limits(setting: str) -> dict[str, int]:
    """Read `30000` or `30000 de-en=14000` or `de-en=14000`: sentence pairs by pair; `""` is for all the
    others.
    """
    limits: dict[str, int] = {}
    for word in setting.split():
        pair, _, number = word.rpartition("=")
        said_before = {pair, "-".join(pair.split("-")[::-1])} & limits.keys()
        if not number.isascii() or not number.isdigit() or int(number) < 1 or said_before:
            raise InputError(
                f"'{setting}' gives no numbers of sentence pairs; write 30000, or 30000 de-en=14000"
            )
        limits["" if not pair else str(parse_direction(pair))] = int(number)
    return limits


def limit_of(pair: tuple[str, str], limits: Mapping[str, int]) -> int | None:
    """The bound for a pair, in whatever order it is written; None where there is none."""
    return limits.get("-".join(pair), limits.get("-".join(pair[::-1]), limits.get("")))


class Judged(NamedTuple):
    """The lines of a training pair: for each a byte, 0 for one that is kept, else the number of its fault in
    `FAULTS`; and how many overlap with each split.
    """

    pair: Pair
    verdicts: bytes
    splits: Mapping[str, int]

    @property
    def name(self) -> str:
        return "-".join(self.pair)

    @property
    def counts(self) -> dict[str, int]:
        """`lines`, those that overlap with `valid` and with `test`, and `overlapping`, with either."""
        splits = {split: self.splits[split] for split in SPLITS[1:]}
        return {"lines": len(self.verdicts), **splits, "overlapping": self.verdicts.count(OVERLAPS)}

    @property
    def left_out(self) -> dict[str, int]:
        """How many are left out by each rule of cleaning."""
        return {rule: self.verdicts.count(FAULTS.index(rule)) for rule in RULES}


class JudgedBlock(NamedTuple):
    """Some lines of a training pair as `Judged` has them, each by itself; and of those that are kept, by rule
    of repetitions, the digests one after the other.
    """

    pair: Pair
    verdicts: bytearray
    splits: Counter[str]
    digests: Mapping[str, bytearray]


def check_overlap(
    text: Path, languages: Sequence[str], workers: int = 1
) -> tuple[dict, Iterator[list[Overlap]]]:
    """Counts by training pair (see `Judged`), and the overlaps of every training line that has any, for which
    pairs that have some are read again.

    Raises `InputError` for text that breaks the contract and where there is none to train on.
    """
    held_out = checked_held_out(text, languages)
    judged = judge(text, languages, held_out, workers=workers)
    found = (find_overlaps(text, each.pair, held_out) for each in judged if OVERLAPS in each.verdicts)
    return {each.name: each.counts for each in judged}, filter(None, chain.from_iterable(found))


def checked_held_out(text: Path, languages: Sequence[str]) -> dict[str, Place]:
    """The held-out sentences of checked text; `InputError` where there is none to train on."""
    for split in SPLITS[1:]:
        if pairs := pairs_of_split(text, split, languages):
            check_corpus(text, pairs, [split])
    if not pairs_of_split(text, "train", languages):
        raise InputError(
            f"{text} has no training text for any two of {', '.join(languages)}: "
            f"files are named train.xx-yy.xx and train.xx-yy.yy"
        )
    return held_out_sentences(text, languages)


def judge(
    text: Path,
    languages: Sequence[str],
    held_out: Mapping[str, Place],
    cleaning: Cleaning = Cleaning(),
    workers: int = 1,
) -> list[Judged]:
    """Read every training pair once; `InputError` for one that breaks the contract."""
    cleaners = make_cleaners(cleaning, text, languages)
    blocks = blocks_of(text, pairs_of_split(text, "train", languages))
    judging = partial(judge_block, held_out=held_out, cleaners=cleaners)
    judged = map_in_processes(judging, blocks, workers, together=1)
    with tqdm(desc="reading training text", unit=" lines", unit_scale=True, leave=False, disable=None) as bar:
        return [
            judge_repetitions(pair, of_pair, bar.update)
            for pair, of_pair in groupby(judged, key=attrgetter("pair"))
        ]


def blocks_of(text: Path, pairs: Iterable[Pair]) -> Iterator[tuple[Pair, list[Row]]]:
    """The lines of all training pairs, some at a time."""
    for pair in pairs:
        rows = iterate_rows(find_pair(text, "train", *pair))
        while block := [*islice(rows, BLOCK)]:
            yield pair, block


def judge_block(
    block: tuple[Pair, list[Row]], held_out: Mapping[str, Place], cleaners: Mapping[Pair, Cleaner]
) -> JudgedBlock:
    """What is to become of each line of a block by itself.

    What overlaps is out before anything else, so that no line is a repetition of one that is not kept.
    """
    pair, rows = block
    cleaner = cleaners.get(pair)
    verdicts, splits = bytearray(), Counter[str]()
    digests = {rule: bytearray() for rule in (cleaner.of_repetitions if cleaner else ())}
    for sides in rows:
        normalised = [normalise(side) for side in sides]
        overlaps = {place.file.name.split(".")[0] for side in normalised if (place := held_out.get(side))}
        splits.update(overlaps)
        fault = OVERLAP if overlaps else cleaner.fault(sides, normalised) if cleaner else ""
        verdicts.append(FAULTS.index(fault))
        if cleaner and not fault:
            for of_rule, digest in zip(digests.values(), cleaner.digests(sides, normalised), strict=True):
                of_rule += digest
    return JudgedBlock(pair, verdicts, splits, digests=digests)


def judge_repetitions(pair: Pair, blocks: Iterable[JudgedBlock], finished: Callable[[int], object]) -> Judged:
    """A pair of which all lines were judged by themselves, in blocks: what repeats an earlier line is out,
    too.
    """
    verdicts, splits = bytearray(), Counter[str]()
    digests: dict[str, bytearray] = defaultdict(bytearray)
    for block in blocks:
        verdicts += block.verdicts
        splits.update(block.splits)
        for rule, of_block in block.digests.items():
            digests[rule] += of_block
        finished(len(block.verdicts))
    codes = np.frombuffer(verdicts, dtype=np.uint8)
    places = np.flatnonzero(codes == KEPT)
    of_rules = {rule: np.frombuffer(found, dtype="<u8") for rule, found in digests.items()}
    for rule, repeats in repetitions(of_rules).items():
        codes[places[repeats]] = FAULTS.index(rule)
    return Judged(pair, bytes(verdicts), splits)


def make_training_text(
    text: Path,
    target: Path,
    languages: Sequence[str],
    limits: Mapping[str, int] | None = None,
    cleaning: Cleaning = Cleaning(),
    seed: int = 1,
    workers: int = 1,
) -> dict:
    """Write `text` into the folder `target`, its training pairs without overlap, cleaned, and at random
    within limits.

    Returns the counts of `check_overlap` with those of the lines `removed`, which overlap, and `kept`. They
    are also written, to `overlap.json`, and what overlapped to `overlap.tsv`; with cleaning, what each rule
    leaves out to `cleaning.json` and `cleaning.tsv`. Held-out sets and lexicons are copied as they are.
    """
    pairs = pairs_of_split(text, "train", languages)
    limits = limits or {}
    if strangers := [
        pair for pair in limits if pair and pair not in {f"{a}-{b}" for p in pairs for a, b in (p, p[::-1])}
    ]:
        raise InputError(
            f"{text} has no training text for {', '.join(strangers)}, of which a number of pairs is asked for"
        )
    held_out = checked_held_out(text, languages)
    judged = judge(text, languages, held_out, cleaning=cleaning, workers=workers)
    for each in judged:
        check_left(text, each)
    target.mkdir(parents=True, exist_ok=True)
    writing = partial(write_pair, text, target, held_out=held_out, limits=limits, seed=seed)
    written = map_in_processes(writing, judged, workers, together=1)
    kept = list(progress(written, "writing training text", len(judged)))
    for name in LISTS:
        wanted = name == OVERLAP_LIST or cleaning.rules
        join_lists([target / f"{each.name}.{name}" for each in judged], target / name if wanted else None)
    copy_held_out(text, target, languages)
    counts = {
        each.name: each.counts | {"removed": each.verdicts.count(OVERLAPS), "kept": number}
        for each, number in zip(judged, kept)
    }
    write_json(target / OVERLAP_FILE, counts)
    if cleaning.rules:
        write_json(target / CLEANING_FILE, cleaning_record(cleaning, judged, kept))
    return counts


def check_left(text: Path, judged: Judged) -> None:
    """`InputError` for a pair of which nothing is kept."""
    if KEPT in judged.verdicts:
        return
    file, removed = find_pair(text, "train", *judged.pair)[0], judged.verdicts.count(OVERLAPS)
    if removed == len(judged.verdicts):
        raise InputError(
            f"every sentence pair of {file} overlaps with the validation or test sets; "
            f"nothing is left to train {judged.name} on"
        )
    raise InputError(
        f"nothing of {file} is left to train {judged.name} on: of {len(judged.verdicts)} sentence pairs "
        f"{removed} overlap with the validation or test sets, and the rules of cleaning leave out "
        f"{words_of(judged.left_out)}; keep to fewer rules"
    )


def words_of(left_out: Mapping[str, int]) -> str:
    """The counts by rule, in words."""
    return ", ".join(f"{number:,} ({rule})" for rule, number in left_out.items() if number)


def write_pair(
    text: Path,
    target: Path,
    judged: Judged,
    held_out: Mapping[str, Place],
    limits: Mapping[str, int],
    seed: int,
) -> int:
    """Write the lines of a pair that are chosen, and lists of those with a fault; how many are chosen."""
    files = find_pair(text, "train", *judged.pair)
    limit, generator = limit_of(judged.pair, limits), random.Random(f"{seed} {judged.name}")
    chosen = choose(judged.verdicts, limit, generator)
    with ExitStack() as stack:
        sides = [stack.enter_context(file.open("rb")) for file in files]
        *written, overlapping, cleaned = [
            stack.enter_context(replacing(target / name))
            for name in (*(file.name for file in files), *(f"{judged.name}.{name}" for name in LISTS))
        ]
        for number, (verdict, wanted, *lines) in enumerate(zip(judged.verdicts, chosen, *sides), start=1):
            if wanted:
                for file, line in zip(written, lines):
                    file.write(line.removesuffix(b"\n") + b"\n")
            elif verdict != KEPT:
                row = [line.decode("utf-8").removesuffix("\n") for line in lines]
                if verdict == OVERLAPS:
                    write_overlaps(overlapping, overlaps_of_line(files, number, row, held_out=held_out))
                else:
                    write_row(cleaned, (FAULTS[verdict], judged.name, str(number), *row))
    return sum(chosen)


def cleaning_record(cleaning: Cleaning, judged: Sequence[Judged], kept: Sequence[int]) -> dict:
    """What `cleaning.json` says: the rules, and by pair how many lines there are, overlap, are left out by
    each rule, and are written.
    """
    return {
        "rules": str(cleaning),
        "pairs": {
            each.name: {
                "lines": len(each.verdicts),
                OVERLAP: each.verdicts.count(OVERLAPS),
                **{rule: each.left_out[rule] for rule in cleaning.rules},
                "kept": number,
            }
            for each, number in zip(judged, kept)
        },
    }


def cleaning_in_words(text: Path) -> str:
    """How many training pairs cleaning left out of text, and by which rules."""
    pairs = read_json(text / CLEANING_FILE, "clean the text again")["pairs"].values()
    left_out = {rule: sum(pair.get(rule, 0) for pair in pairs) for rule in RULES}
    lines, number = sum(pair["lines"] for pair in pairs), sum(left_out.values())
    by_rule = f": {words_of(left_out)}; {CLEANING_LIST} beside the text lists them" if number else ""
    return f"cleaning leaves out {number:,} of {lines:,} training pairs{by_rule}"


def read_overlap(path: Path, remedy: str) -> dict[str, dict[str, int]]:
    """The counts by training pair that an overlap.json says; `InputError` with the remedy if it is missing or
    damaged.
    """
    counts = read_json(path, remedy)
    with damage_of(path, remedy):
        for pair in counts.values():
            check_kinds(pair, dict.fromkeys(("lines", *SPLITS[1:], "removed"), int))
    return counts


def choose(verdicts: bytes, limit: int | None, generator: random.Random) -> bytearray:
    """Whether each line is written (1) or not (0): those without a fault, or `limit` of them at random."""
    chosen = bytearray(verdict == KEPT for verdict in verdicts)
    without_fault = sum(chosen)
    if limit is not None and limit < without_fault:
        places = np.flatnonzero(np.frombuffer(chosen, dtype=np.uint8))
        leave_out(chosen, places, without_fault - limit, generator=generator)
    return chosen


def leave_out(chosen: bytearray, places: np.ndarray, number: int, generator: random.Random) -> None:
    """Mark as not chosen (0) so many of the places (N, which are changed) of lines that are.

    They are those of `generator.sample(places, number)`, which keeps ten times the memory in lists and sets.
    """
    size = len(places)
    of_set = 21 + (4 ** math.ceil(math.log(number * 3, 4)) if number > 5 else 0)
    for drawn in range(number):
        if size <= of_set:  # from those that are left, the last of which takes the place of the drawn one
            place = generator.randrange(size - drawn)
            chosen[places[place]] = 0
            places[place] = places[size - drawn - 1]
        else:  # from all, until it is one that was not drawn
            while not chosen[places[place := generator.randrange(size)]]:
                pass
            chosen[places[place]] = 0


def copy_held_out(text: Path, target: Path, languages: Sequence[str]) -> None:
    """Copy the validation and test sets between the languages, and what is beside the text."""
    copy_files(held_out_files(text, languages), target)
    copy_beside(text, target, languages)


def copy_beside(text: Path, target: Path, languages: Sequence[str]) -> None:
    """Copy the lexicons and word orders of languages that are in a folder."""
    known = (text / f"{what}.{language}" for what in ("lexicon", "word_order") for language in languages)
    copy_files(filter(Path.is_file, known), target)


def copy_files(files: Iterable[Path], target: Path) -> None:
    for file in files:
        with replacing(target / file.name) as copy:
            copy.write(file.read_bytes())


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


def say_what_is_left_out(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Tell of the training pairs that overlap with held-out sets, if there are any."""
    if removed := sum(pair["removed"] for pair in counts.values()):
        print(
            f"{removed} training pairs overlap with the validation or test sets and were left out; "
            f"{OVERLAP_LIST} beside the text lists them",
            file=sys.stderr,
        )
