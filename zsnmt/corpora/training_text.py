"""Text to train on, from text as it comes: without overlap with held-out sets, cleaned, of a bounded size.

Every training pair is read twice, to judge its lines, which processes share, and to write those that are
kept. In memory are the sentences of the held-out sets, a byte for each line, and while a pair is cleaned 8
bytes a line for each of the two rules on repetitions, while a part of it is drawn 8 bytes a line.
"""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from zsnmt.corpora.cleaning import Cleaning
from zsnmt.corpora.judging import FAULTS, KEPT, OVERLAPS, Judged, checked_held_out, judge
from zsnmt.corpora.left_out import (
    LISTS,
    OVERLAP_LIST,
    cleaning_record,
    join_lists,
    words_of,
    write_overlaps,
    write_row,
)
from zsnmt.corpora.limits import choose, limit_of
from zsnmt.corpora.overlap import Place, held_out_files, overlaps_of_line
from zsnmt.corpora.parallel_text import find_pair, pairs_of_split
from zsnmt.errors import InputError
from zsnmt.files.records import CLEANING_FILE, OVERLAP_FILE, write_json
from zsnmt.files.replacing import replacing
from zsnmt.languages import Pair
from zsnmt.processes import map_in_processes, progress


def make_training_text(
    text: Path,
    target: Path,
    languages: Sequence[str],
    limits: Mapping[str, int] | None = None,
    cleaning: Cleaning = Cleaning(),
    cleaned: Collection[Pair] | None = None,
    seed: int = 1,
    workers: int = 1,
) -> dict:
    """Write `text` into the folder `target`, its training pairs without overlap, cleaned, and at random
    within limits. `cleaned`: the pairs that are cleaned, None for all.

    Returns the counts of `check_overlap` with those of the lines `removed`, which overlap, and `kept`. They
    are also written, to `overlap.json`, and what overlapped to `overlap.tsv`; with cleaning, what each rule
    leaves out to `cleaning.json` and `cleaning.tsv`. Held-out sets and lexicons are copied as they are.
    """
    pairs = pairs_of_split(text, "train", languages)
    limits, cleaned = limits or {}, pairs if cleaned is None else cleaned
    if strangers := [
        pair for pair in limits if pair and pair not in {f"{a}-{b}" for p in pairs for a, b in (p, p[::-1])}
    ]:
        raise InputError(
            f"{text} has no training text for {', '.join(strangers)}, of which a number of pairs is asked for"
        )
    held_out = checked_held_out(text, languages)
    judged = judge(text, languages, held_out, cleaning=cleaning, cleaned=cleaned, workers=workers)
    for each in judged:
        check_left(text, each)
    target.mkdir(parents=True, exist_ok=True)
    writing = partial(write_pair, text, target, held_out=held_out, limits=limits, seed=seed)
    written = map_in_processes(writing, judged, workers, together=1)
    numbers = progress(written, "writing training text", len(judged))
    kept = {each.name: number for each, number in zip(judged, numbers)}
    for name in LISTS:
        wanted = name == OVERLAP_LIST or cleaning.rules
        join_lists([target / f"{each.name}.{name}" for each in judged], target / name if wanted else None)
    copy_held_out(text, target, languages)
    counts = {
        each.name: each.counts | {"removed": each.verdicts.count(OVERLAPS), "kept": kept[each.name]}
        for each in judged
    }
    write_json(target / OVERLAP_FILE, counts)
    if cleaning.rules:
        of_cleaned = [each for each in judged if each.pair in cleaned]
        write_json(target / CLEANING_FILE, cleaning_record(cleaning, of_cleaned, kept))
    return counts


def check_left(text: Path, judged: Judged) -> None:
    """`InputError` for a pair of which nothing is kept."""
    if KEPT in judged.verdicts:
        return
    file, removed = find_pair(text, "train", *judged.pair)[0], judged.verdicts.count(OVERLAPS)
    if removed == len(judged.verdicts):
        raise InputError(
            f"every sentence pair of {file} overlaps with the validation or test sets, and nothing is left "
            f"to train {judged.name} on; give other text, or other or smaller sets (HELD_OUT)"
        )
    raise InputError(
        f"nothing of {file} is left to train {judged.name} on: of {len(judged.verdicts)} sentence pairs "
        f"{removed} overlap with the validation or test sets, and the rules of cleaning leave out "
        f"{words_of(judged.left_out)}; keep to fewer rules"
    )


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


def copy_held_out(text: Path, target: Path, languages: Sequence[str]) -> None:
    """Copy the validation and test sets between the languages, and what is beside the text."""
    copy_files(held_out_files(text, languages), target)
    copy_beside(text, target, languages)


def copy_beside(text: Path, target: Path, languages: Sequence[str]) -> None:
    """Copy the lexicons and word orders of languages that are in a folder."""
    copy_files(files_beside(text, languages), target)


def files_beside(text: Path, languages: Sequence[str]) -> list[Path]:
    """The lexicons and word orders of languages that are in a folder."""
    known = (text / f"{what}.{language}" for what in ("lexicon", "word_order") for language in languages)
    return [*filter(Path.is_file, known)]


def copy_files(files: Iterable[Path], target: Path) -> None:
    for file in files:
        with replacing(target / file.name) as copy:
            copy.write(file.read_bytes())
