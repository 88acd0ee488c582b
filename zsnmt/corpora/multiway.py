"""Pivot-centred training pairs cut from a multiway corpus (the conditions of Liu et al. 2021, section
3.1), and multiway text cut from pairs.
"""

import random
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import compress
from pathlib import Path

import numpy as np

from zsnmt.corpora.parallel_text import SPLITS, find_pair, number_of_lines
from zsnmt.errors import InputError
from zsnmt.languages import check_languages
from zsnmt.text.lines import iterate_lines, read_lines, write_lines

CONDITIONS = ("multiway", "non_overlap")


@dataclass(frozen=True)
class Lines:
    """The lines of a file, which is read each time that one goes through them."""

    file: Path

    def __iter__(self) -> Iterator[str]:
        return iterate_lines(self.file)


def deal(pivot_sentences: Iterable[str], hands: int, seed: int) -> np.ndarray:
    """The hand of each line (N), from 0: dealt at random so that no pivot sentence, known by a digest of 64
    bits, is in two.

    The hands have as many different sentences, or one more.
    """
    digests = np.fromiter(map(digest, pivot_sentences), dtype=np.uint64)
    _, first, sentences = np.unique(digests, return_index=True, return_inverse=True)
    order = array("q", np.argsort(first))  # of the different sentences, as they come
    random.Random(seed).shuffle(order)
    hand_of = np.empty(len(order), dtype=np.int64)
    hand_of[np.asarray(order)] = np.arange(len(order)) % hands
    return hand_of[sentences]


def digest(sentence: str) -> int:
    return int.from_bytes(blake2b(sentence.encode("utf-8"), digest_size=8).digest(), "little")


def read_multiway(folder: Path, split: str, languages: Sequence[str]) -> dict[str, list[str]]:
    """The lines of `split.{lang}` by language; raises `InputError` unless there are as many in each."""
    text = {language: read_lines(folder / f"{split}.{language}") for language in languages}
    check_multiway(folder, split, {language: len(lines) for language, lines in text.items()})
    return text


def open_multiway(folder: Path, split: str, languages: Sequence[str]) -> dict[str, Lines]:
    """The same, checked and not held."""
    text = {language: Lines(folder / f"{split}.{language}") for language in languages}
    check_multiway(folder, split, {language: number_of_lines(text[language].file) for language in text})
    return text


def check_multiway(folder: Path, split: str, lines: Mapping[str, int]) -> None:
    """`InputError` unless there are as many lines in each language."""
    if len({*lines.values()}) > 1:
        counts = ", ".join(f"{split}.{language} {number}" for language, number in lines.items())
        raise InputError(f"{folder} is not multiway: its files differ in their number of lines ({counts})")


def is_multiway(folder: Path, split: str, languages: Sequence[str]) -> bool:
    """Whether a split has one file for each of the languages."""
    return all((folder / f"{split}.{language}").is_file() for language in languages)


def read_translations(folder: Path, split: str, languages: Sequence[str], pivot: str) -> dict[str, list[str]]:
    """The lines of a split by language of which line n is the same sentence in all: a multiway set, or what
    the files of pairs have in common.

    Pairs with the pivot meet in its sentences. Those that each of the pairs has, once, are common; they are
    in the order of the first pair. Raises `InputError` for a pair that is missing or not parallel, and where
    no sentence is common.
    """
    if is_multiway(folder, split, languages):
        return read_multiway(folder, split, languages)
    others = [language for language in languages if language != pivot]
    if not others:
        raise InputError(f"{folder} has no {split}.{pivot}; name another language besides {pivot}, the pivot")
    pairs = {}
    for language in others:
        files = find_pair(folder, split, language, target=pivot)
        sides = {file.suffix[1:]: read_lines(file) for file in files}
        if len(sides[language]) != len(sides[pivot]):
            raise InputError(
                f"{files[0]} has {len(sides[language])} lines and {files[1]} has {len(sides[pivot])}; line n "
                "of one must be the translation of line n of the other"
            )
        pairs[language] = translations_of_unique(sides[pivot], sides[language])
    common = [
        sentence for sentence in pairs[others[0]] if all(sentence in of_pair for of_pair in pairs.values())
    ]
    if not common:
        raise InputError(
            f"no sentence of {pivot} is in the {split} files of all of {', '.join(others)} in {folder}, once "
            "in each; name fewer languages, or another split"
        )
    translations = {pivot: {sentence: sentence for sentence in common}, **pairs}
    return {language: [translations[language][sentence] for sentence in common] for language in languages}


def translations_of_unique(sentences: Sequence[str], translations: Sequence[str]) -> dict[str, str]:
    """The translation of each sentence that occurs once, in order."""
    counts = Counter(sentences)
    return {
        sentence: translation
        for sentence, translation in zip(sentences, translations)
        if counts[sentence] == 1
    }


def own_lines(folder: Path, split: str, languages: Sequence[str]) -> dict[str, list[str]]:
    """The lines that each language has in a split: those of `split.{lang}`, or of the files of its pairs,
    each without what an earlier file has.

    Line n of two languages is not the same sentence. Raises `InputError` for a language without a file.
    """
    text = {}
    for language in languages:
        multiway = folder / f"{split}.{language}"
        files = [multiway] if multiway.is_file() else sorted(folder.glob(f"{split}.*-*.{language}"))
        if not files:
            raise InputError(
                f"{folder} has neither {multiway.name} nor a file {split}.xx-yy.{language} of any pair; give "
                f"a folder or a split with text of {language}"
            )
        lines: list[str] = []
        for file in files:
            earlier = {*lines}
            lines += (line for line in read_lines(file) if line not in earlier)
        text[language] = lines
    return text


def write_training_pairs(
    text: Mapping[str, Iterable[str]], target: Path, condition: str, seed: int = 1
) -> dict[str, int]:
    """Write `train.{lang}-{pivot}.*` from lines that are translations of each other; returns the pairs' line
    counts.

    `text` has the lines of each language, the pivot first, which are gone through several times. `multiway`:
    every pair has every line. `non_overlap`: the lines are dealt to the pairs, so that no pivot sentence is
    in two of them; each pair keeps their order. Raises `InputError`, before anything is written, for text
    that cannot be cut like this.
    """
    if condition not in CONDITIONS:
        raise InputError(f"unknown condition '{condition}': it must be one of {', '.join(CONDITIONS)}")
    pivot, *others = check_languages(text)
    number = len(others) if condition == "non_overlap" else 1
    hands = deal(text[pivot], number, seed)  # N
    if len(np.unique(hands)) < number:
        raise InputError(
            f"the multiway text has fewer different sentences in {pivot} than the {len(others)} pairs to make"
        )
    target.mkdir(parents=True, exist_ok=True)
    counts = {}
    for place, language in enumerate(others):
        chosen = hands == place % number  # N
        for side in (language, pivot):
            write_lines(target / f"train.{language}-{pivot}.{side}", compress(text[side], chosen))
        counts[f"{language}-{pivot}"] = int(chosen.sum())
    return counts


def cut_training_pairs(
    folder: Path, target: Path, languages: Sequence[str], condition: str, seed: int = 1
) -> dict[str, int]:
    """Write training pairs and multiway valid and test sets from `{train,valid,test}.{lang}`.

    `languages`: the pivot first; see `write_training_pairs`. Nothing is written before all is read; no text
    is held.
    """
    check_languages(languages)
    text, *evaluation = (open_multiway(folder, split, languages) for split in SPLITS)
    counts = write_training_pairs(text, target, condition, seed=seed)
    for split, lines_of in zip(SPLITS[1:], evaluation):
        for language, lines in lines_of.items():
            write_lines(target / f"{split}.{language}", lines)
    return counts
