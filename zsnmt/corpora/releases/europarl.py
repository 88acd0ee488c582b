"""Europarl v7 (Koehn 2005), `europarl-v7.{lang}-en.{lang,en}`, under the three conditions of Liu et al.
(2021).

A sentence is what is left of a line when it is cleaned; a line without one on either side is left out, and so
is a sentence pair that was there before. Pairs of different languages meet in an English sentence that is the
same.

* Held out, first and in every condition: `valid` and `test`, multiway, drawn from the English sentences that
  are in every pair and of which both sides occur in one line only, so that neither side has a second
  translation there. A training pair goes out when either side is a held-out sentence of any language. For
  these two rules sentences are compared normalised, as in `zsnmt.corpora.overlap`.
* `multiway`: each pair has all English sentences that are in every pair, the same for all.
* `non_overlap`: each English sentence is dealt, at random, to one of the pairs that have it, and each pair
  keeps as many as `multiway` gives, or as the smallest hand has: equal numbers from different sentences, not
  only from those in every pair. To compare the two where hands are smaller, bound both by `pairs`.
* `full`: every sentence pair that is left.

`multiway` and `non_overlap` have one line for an English sentence, the first of its pair. Training pairs keep
the order of the release; held-out sentences are in random order. All draws follow from the seed, the text and
the set of languages, not from their order.

The paper has 119 thousand sentences in a pair under the first two conditions. How it cut them, and the size
of its test set, which is another corpus's, are not published: the rules above and the 2000 sentences are this
project's.

Sentences are held as 64-bit digests, 29 bytes per line in all: two of n different ones have the same digest
with a probability of about n²/2⁶⁵, which is 10⁻⁷ for two million. The seed is part of the digest, so that the
order of digests is a random order, and the same one for every pair.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from hashlib import blake2b
from itertools import compress, islice, repeat, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zsnmt.corpora import multiway
from zsnmt.corpora.overlap import normalise
from zsnmt.corpora.parallel_text import SPLITS
from zsnmt.corpora.releases.release import clean_sentence, count_pairs, find_files, open_lines, warn_of_fewer
from zsnmt.errors import InputError
from zsnmt.languages import check_languages
from zsnmt.processes import cores, progress, worker_pool
from zsnmt.text.lines import write_lines

PIVOT = "en"
LANGUAGES = (PIVOT, "da", "de", "es", "fi", "fr", "it", "nl", "pt")
CONDITIONS = (*multiway.CONDITIONS, "full")

ROW = np.dtype([("number", "u4"), ("english", "u8"), ("pair", "u8"), ("normalised", "u8", 2)])

logger = logging.getLogger(__name__)


class Lines(NamedTuple):
    """What is known of N lines of a pair; sentences are digests."""

    number: np.ndarray  # N, of the line in its file, from 0
    english: np.ndarray  # N
    normalised: np.ndarray  # N×2, English and the other language
    alone: np.ndarray  # N, whether no other line has the same sentence, normalised, on either side

    def where(self, chosen: np.ndarray) -> "Lines":
        """The lines chosen by a mask or by their places."""
        return Lines(*(column[chosen] for column in self))


def read_release(
    release: Path,
    target: Path,
    languages: Sequence[str] = LANGUAGES,
    condition: str = "multiway",
    held_out: int = 2000,
    seed: int = 1,
    pairs: int | None = None,
    workers: int | None = None,
) -> dict[str, dict[str, int]]:
    """Write parallel text from the release into `target`; returns sentence pairs by split and pair.

    `languages`: English first. `valid` and `test` have `held_out` sentences each. `pairs` bounds the number
    of training pairs with each language. `workers`: processes, by default as many as there are cores. Raises
    InputError, before anything is written, for files that are missing or not in the form of the release, and
    where fewer sentences than asked for can be held out, or none is left to train on.
    """
    if condition not in CONDITIONS:
        raise InputError(f"unknown condition '{condition}': it must be one of {', '.join(CONDITIONS)}")
    if held_out < 1 or (pairs is not None and pairs < 1):
        raise InputError(f"one or more sentences must be held out and trained on, not {held_out} and {pairs}")
    pivot, *others = check_languages(languages)
    if pivot != PIVOT:
        raise InputError(
            f"Europarl has each language with English: the first language must be en, here it is {pivot}"
        )
    others.sort()
    names = [[f"europarl-v7.{language}-{PIVOT}.{side}" for side in (PIVOT, language)] for language in others]
    both_sides = find_files(release, [[both] for both in names], "europarl")
    files = {language: (english, other) for language, (english, other) in zip(others, both_sides)}
    with worker_pool(cores() if workers is None else workers) as pool:
        digested = pool.map(digest_pair, files.values(), repeat(seed))
        lines = dict(zip(files, progress(digested, "reading", len(files))))
        held = hold_out(lines, 2 * held_out)
        seen = np.unique(np.concatenate([own.normalised for own in held.values()]))
        left = {language: leave_out(lines.pop(language), seen) for language in others}
        jobs = chosen_lines(files, choose_training(left, condition, pairs), held)
        target.mkdir(parents=True, exist_ok=True)
        results = pool.map(write_chosen, jobs.values(), (target / name for name in jobs))
        list(progress(results, "writing", len(jobs)))
    counts = count_pairs(target, languages)
    warn_of_fewer(counts["train"], pairs)
    return counts


def digest_pair(files: tuple[Path, Path], seed: int) -> Lines:
    """The lines of a pair, English first, that have a sentence on both sides; of equal pairs the first.

    Raises InputError when the files differ in their number of lines, when `open_lines` does, and when no
    line is left.
    """
    table = np.fromiter(digest_lines(files, seed), ROW)
    if not len(table):
        raise InputError(
            f"{files[0]} and {files[1]} have no line with a sentence on both sides; get the release again"
        )
    _, first = np.unique(table["pair"], return_index=True)
    if len(first) < len(table):
        logger.info("%s: pairs that are there before, left out: %d", files[0].name, len(table) - len(first))
    alone = occur_once(table["normalised"][:, 0]) & occur_once(table["normalised"][:, 1])
    return Lines(table["number"], table["english"], table["normalised"], alone=alone).where(np.sort(first))


def digest_lines(files: tuple[Path, Path], seed: int) -> Iterator[tuple]:
    """For each line with a sentence on both sides what `ROW` says."""
    salt = blake2b(str(seed).encode(), digest_size=blake2b.SALT_SIZE).digest()

    def digest(text: str) -> int:
        return int.from_bytes(blake2b(text.encode("utf-8"), digest_size=8, salt=salt).digest(), "little")

    empty = 0
    for number, sides in enumerate(read_pair(files)):
        english, other = map(clean_sentence, sides)
        if english and other:
            compared = digest(normalise(english)), digest(normalise(other))
            yield number, digest(english), digest(f"{english}\n{other}"), compared
        else:
            empty += 1
    if empty:
        logger.info("%s: lines with an empty sentence, left out: %d", files[0].name, empty)


def read_pair(files: tuple[Path, Path]) -> Iterator[tuple[str, str]]:
    """The lines of two files side by side; raises InputError unless they have as many."""
    for first, second in zip_longest(*map(open_lines, files)):
        if first is None or second is None:
            counts = [sum(1 for _ in open_lines(file)) for file in files]
            raise InputError(
                f"{files[0]} has {counts[0]} lines and {files[1]} has {counts[1]}; line n of one must be "
                f"the translation of line n of the other, so get the release again"
            )
        yield first, second


def occur_once(values: np.ndarray) -> np.ndarray:
    """For each value whether no other is equal to it."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return counts[place] == 1


def is_in(values: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """For each value whether it is in `ordered`, one or more ascending values."""
    place = np.searchsorted(ordered, values)
    return ordered[np.minimum(place, len(ordered) - 1)] == values


def hold_out(lines: Mapping[str, Lines], number: int) -> dict[str, Lines]:
    """As many lines of each pair, drawn at random; line n has the same English in all of them."""
    pool = np.sort(reduce(np.intersect1d, (own.english[own.alone] for own in lines.values())))
    if len(pool) < number:
        raise InputError(
            f"{len(pool)} English sentences are in all of {', '.join(f'{code}-{PIVOT}' for code in lines)} "
            f"and once in each, fewer than the {number} to hold out; hold out fewer by "
            "--held-out, in a config in CORPUS"
        )
    held = {}
    for language, own in lines.items():
        places = np.flatnonzero(is_in(own.english, pool[:number]))
        held[language] = own.where(places[np.argsort(own.english[places])])
    return held


def leave_out(lines: Lines, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The English and the numbers of the lines of which no side is among the sentences seen."""
    unseen = ~is_in(lines.normalised, seen).any(axis=1)  # N
    return lines.english[unseen], lines.number[unseen]


def choose_training(
    left: Mapping[str, tuple[np.ndarray, np.ndarray]], condition: str, pairs: int | None = None
) -> dict[str, np.ndarray]:
    """The numbers of the lines to train on by language, ascending.

    `left` has English and number of each line that may be. Held-out sentences are those with the lowest
    digests; the highest are taken here, which is independent of them.
    """
    if condition == "full":
        chosen = {
            language: number[np.argsort(english, kind="stable")[-(pairs or len(number)) :]]
            for language, (english, number) in left.items()
        }
    else:
        first = {language: first_lines(*own) for language, own in left.items()}
        sentences = {language: english for language, (english, _) in first.items()}
        shared = reduce(np.intersect1d, sentences.values())
        hands = deal(sentences) if condition == "non_overlap" else dict.fromkeys(left, shared)
        size = min(pairs or len(shared), *map(len, hands.values()))
        chosen = {}
        for language, (english, number) in first.items():
            hand = hands[language][len(hands[language]) - size :]
            chosen[language] = number[np.searchsorted(english, hand)]
    if not all(map(len, chosen.values())):
        raise InputError(
            f"no sentence is left to train {', '.join(f'{code}-{PIVOT}' for code in chosen)} on under the "
            f"condition {condition}; hold out fewer by --held-out, or take another condition "
            "(in a config: CORPUS)"
        )
    return {language: np.sort(numbers) for language, numbers in chosen.items()}


def first_lines(english: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different sentences, ascending, and the number of the first line of each."""
    different, place = np.unique(english, return_index=True)
    return different, number[place]


def deal(sentences: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Each sentence to one of the languages that have it, each as likely; digests, ascending, without
    repetition.
    """
    everything = reduce(np.union1d, sentences.values())
    owners = np.zeros_like(everything)
    for own in sentences.values():
        owners[np.searchsorted(everything, own)] += 1
    turn = everything % owners  # which of its owners gets a sentence
    hands, before = {}, np.zeros_like(everything)
    for language, own in sentences.items():
        place = np.searchsorted(everything, own)
        hands[language] = own[turn[place] == before[place]]
        before[place] += 1
    return hands


def chosen_lines(
    files: Mapping[str, tuple[Path, Path]], training: Mapping[str, np.ndarray], held: Mapping[str, Lines]
) -> dict[str, tuple[Path, np.ndarray]]:
    """For each file to write its name, the file of the release and the numbers of its lines."""
    jobs: dict[str, tuple[Path, np.ndarray]] = {}
    for language, (english, other) in files.items():
        name, numbers = f"{language}-{PIVOT}", training[language]
        jobs |= {f"train.{name}.{PIVOT}": (english, numbers), f"train.{name}.{language}": (other, numbers)}
        for split, numbers in zip(SPLITS[1:], np.split(held[language].number, 2)):
            jobs.setdefault(f"{split}.{PIVOT}", (english, numbers))  # the same sentences in all pairs
            jobs[f"{split}.{language}"] = other, numbers
    return jobs


def write_chosen(chosen_lines: tuple[Path, np.ndarray], path: Path) -> None:
    """Write lines of a file, cleaned, in the order of their numbers; only if that is not the file's are
    they all held.
    """
    file, numbers = chosen_lines
    chosen = np.zeros(int(numbers.max()) + 1, bool)
    chosen[numbers] = True
    lines = compress(islice(open_lines(file), len(chosen)), chosen.tobytes())
    sentences: Iterable[str] = map(clean_sentence, lines)
    if np.any(numbers[1:] < numbers[:-1]):
        in_the_files_order = [*sentences]
        places = np.searchsorted(np.sort(numbers), numbers).tolist()
        sentences = (in_the_files_order[place] for place in places)
    write_lines(path, sentences)
