"""How many sentence pairs of each pair of languages are trained on, and which."""

import math
import random
from collections.abc import Mapping

import numpy as np

from zsnmt.corpora.judging import KEPT
from zsnmt.errors import InputError
from zsnmt.languages import parse_direction


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
