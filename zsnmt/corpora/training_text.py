"""Text to train on, from text as it comes: without overlap with held-out sets, and of a bounded size."""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress, repeat
from pathlib import Path

from zsnmt.corpora.overlap import Overlap, Place, find_overlaps, held_out_files, held_out_sentences
from zsnmt.corpora.parallel_text import SPLITS, check_corpus, find_pair, pairs_of_split
from zsnmt.errors import InputError
from zsnmt.files.kinds import check_kinds
from zsnmt.files.records import OVERLAP_FILE, damage_of, read_json, write_json
from zsnmt.files.replacing import replacing
from zsnmt.languages import parse_direction
from zsnmt.processes import worker_pool
from zsnmt.text.lines import iterate_lines, write_lines

LIST_FILE = "overlap.tsv"


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


def overlaps_of_pair(
    text: Path, pair: tuple[str, str], held_out: Mapping[str, Place]
) -> tuple[int, list[list[Overlap]]]:
    """The number of lines of a training pair, and the overlaps of each line that has any."""
    number, found = 0, []
    for number, overlaps in enumerate(find_overlaps(text, pair, held_out), start=1):
        if overlaps:
            found.append(overlaps)
    return number, found


def check_overlap(text: Path, languages: Sequence[str], workers: int = 1) -> tuple[dict, list[list[Overlap]]]:
    """Counts by training pair, and the overlaps of every training line that has any.

    The counts of a pair: `lines`, those that overlap with `valid` and with `test`, and `overlapping`, with
    either. Raises `InputError` for text that breaks the contract and where there is none to train on.
    """
    pairs = {split: pairs_of_split(text, split, languages) for split in SPLITS}
    for split in SPLITS:
        if pairs[split]:
            check_corpus(text, pairs[split], [split])
    if not pairs["train"]:
        raise InputError(
            f"{text} has no training text for any two of {', '.join(languages)}: "
            f"files are named train.xx-yy.xx and train.xx-yy.yy"
        )
    held_out = held_out_sentences(text, languages)
    with worker_pool(workers) as pool:
        results = list(pool.map(overlaps_of_pair, repeat(text), pairs["train"], repeat(held_out)))
    counts = {}
    for pair, (lines, found) in zip(pairs["train"], results):
        splits = [{overlap.split for overlap in overlaps} for overlaps in found]
        counts["-".join(pair)] = {
            "lines": lines,
            **{split: sum(split in of_line for of_line in splits) for split in SPLITS[1:]},
            "overlapping": len(found),
        }
    return counts, [overlaps for _, found in results for overlaps in found]


def make_training_text(
    text: Path,
    target: Path,
    languages: Sequence[str],
    limits: Mapping[str, int] | None = None,
    seed: int = 1,
    workers: int = 1,
) -> dict:
    """Write `text` into the folder `target`, its training pairs without overlap and at random within limits.

    Returns the counts of `check_overlap` with those of the lines `removed` and `kept`, which are also
    written, to `overlap.json`, and what overlapped to `overlap.tsv`. Held-out sets and lexicons are copied.
    """
    pairs = pairs_of_split(text, "train", languages)
    limits = limits or {}
    if strangers := [
        pair for pair in limits if pair and pair not in {f"{a}-{b}" for p in pairs for a, b in (p, p[::-1])}
    ]:
        raise InputError(
            f"{text} has no training text for {', '.join(strangers)}, of which a number of pairs is asked for"
        )
    counts, overlaps = check_overlap(text, languages, workers)
    target.mkdir(parents=True, exist_ok=True)
    removed = {place for found in overlaps for place in (overlap.training for overlap in found)}
    for pair in pairs:
        name, files = "-".join(pair), find_pair(text, "train", *pair)
        out = {place.line for place in removed if place.file in files}
        chosen = choose(
            counts[name]["lines"], out, limit_of(pair, limits), generator=random.Random(f"{seed} {name}")
        )
        if not any(chosen):
            raise InputError(
                f"every sentence pair of {files[0]} overlaps with the validation or test sets; "
                f"nothing is left to train {name} on"
            )
        counts[name] |= {"removed": len(out), "kept": sum(chosen)}
        for file in files:
            write_lines(target / file.name, compress(iterate_lines(file), chosen))
    copy_held_out(text, target, languages)
    write_overlaps(target / LIST_FILE, overlaps)
    write_json(target / OVERLAP_FILE, counts)
    return counts


def read_overlap(path: Path, remedy: str) -> dict[str, dict[str, int]]:
    """The counts by training pair that an overlap.json says; `InputError` with the remedy if it is missing or
    damaged.
    """
    counts = read_json(path, remedy)
    with damage_of(path, remedy):
        for pair in counts.values():
            check_kinds(pair, dict.fromkeys(("lines", *SPLITS[1:], "removed"), int))
    return counts


def choose(lines: int, removed: Collection[int], limit: int | None, generator: random.Random) -> bytearray:
    """Whether each line is kept (1) or not (0): those not removed, or `limit` of them at random."""
    chosen = bytearray(b"\1") * lines
    for line in removed:
        chosen[line - 1] = 0
    if limit is not None and limit < lines - len(removed):
        for line in generator.sample([*compress(range(lines), chosen)], lines - len(removed) - limit):
            chosen[line] = 0
    return chosen


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


def write_overlaps(path: Path, overlaps: Sequence[Sequence[Overlap]]) -> None:
    """One line for each side that overlaps: training file and line, held-out file and line, sentence
    (TSV).
    """
    with replacing(path) as file:
        for overlap in (overlap for found in overlaps for overlap in found):
            places = [f"{place.file.name}\t{place.line}" for place in (overlap.training, overlap.held_out)]
            file.write("\t".join([*places, overlap.sentence.replace("\t", " ")]).encode("utf-8") + b"\n")
