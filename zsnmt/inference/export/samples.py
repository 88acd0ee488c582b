"""Sentences on which an export is compared with its run."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from zsnmt.corpora.parallel_text import check_pair, find_pair, pairs_of_split
from zsnmt.data.reading import Codec
from zsnmt.decoding.search import Sentence
from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines

LEAST = 50  # sentences


def check_sentences(number: int) -> None:
    """`InputError` for fewer than an export is checked on."""
    if number < LEAST:
        raise InputError(f"--sentences is {number}; an export is checked on {LEAST} or more")


class Sample(NamedTuple):
    """A sentence to translate and its reference, token ids with EOS."""

    sentence: Sentence
    reference: list[int]


def samples(codec: Codec, text: Path, number: int, longest: int) -> list[Sample]:
    """About `number` sentences of the test set, as many from each direction, with no side of more than
    `longest` tokens.

    Directions are those of training and those without the pivot. Raises `InputError` for text with fewer than
    50.
    """
    pairs = pairs_of_split(text, "test", codec.languages)
    both_ways = [Direction(*way) for pair in pairs for way in (pair, pair[::-1])]
    directions = [each for each in both_ways if each in codec.trained or codec.pivot not in each]
    found = [
        sample
        for direction in directions
        for sample in samples_of(codec, text, direction, number=-(-number // len(directions)))
    ]
    found = [sample for sample in found if max(len(sample.sentence.source), len(sample.reference)) <= longest]
    if len(found) < LEAST:
        raise InputError(
            f"{text} has {len(found)} test sentences for directions of the run, and an export is checked on "
            f"{LEAST} or more; name a folder of parallel text with --text"
        )
    return found


def samples_of(codec: Codec, text: Path, direction: Direction, number: int) -> list[Sample]:
    """So many sentences of a direction, or all, evenly spread over its files."""
    files = find_pair(text, "test", *direction)
    places = np.linspace(0, check_pair(*files) - 1, number).round().astype(int)
    source, target = map(read_lines, files)
    return [
        Sample(codec.source(source[place], direction), codec.tokens(target[place], direction.target))
        for place in dict.fromkeys(places)
    ]
