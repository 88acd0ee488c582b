"""Which training lines are kept: without a held-out sentence, and by all rules of cleaning."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from zsnmt.corpora.cleaning import RULES, Cleaner, Cleaning, make_cleaners, repetitions
from zsnmt.corpora.overlap import Overlap, Place, find_overlaps, held_out_sentences, normalise
from zsnmt.corpora.parallel_text import SPLITS, check_corpus, find_pair, iterate_rows, pairs_of_split
from zsnmt.errors import InputError
from zsnmt.languages import Pair, check_languages
from zsnmt.processes import map_in_processes

Row = tuple[str, ...]
BLOCK = 2000  # lines that a process judges at a time
OVERLAP = "overlap"
FAULTS = ("", OVERLAP, *RULES)  # of a line, the first that it has
KEPT, OVERLAPS = 0, 1  # their numbers


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
    """The held-out sentences of checked text; `InputError` where there is none to train on, and for a
    language that is named twice, whose pairs would be counted twice.
    """
    check_languages(languages)
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
    cleaned: Iterable[Pair] = (),
    workers: int = 1,
) -> list[Judged]:
    """Read every training pair once, `cleaned` are those to clean; `InputError` for one that breaks the
    contract.
    """
    cleaners = make_cleaners(cleaning, text, cleaned)
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
    kept = codes == KEPT
    of_rules = {rule: np.frombuffer(found, dtype="<u8") for rule, found in digests.items()}
    for rule, repeats in repetitions(of_rules).items():
        codes[np.flatnonzero(kept)[repeats]] = FAULTS.index(rule)
    return Judged(pair, bytes(verdicts), splits)
