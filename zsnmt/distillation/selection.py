"""Which lines of a language are translated: those to train on, and those that training never sees."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from zsnmt.corpora.overlap import normalise

LEAST_KEPT = 10  # at most one line in so many is held out


class Selection(NamedTuple):
    """Places of lines in a training pair, from 0 and in order."""

    train: list[int]
    held_out: list[int]

    @property
    def all(self) -> list[int]:
        """Both, in order."""
        return sorted([*self.train, *self.held_out])


def select_lines(
    pivot: Sequence[str], other: Sequence[str], lines: int | None, held_out: int, generator: random.Random
) -> Selection:
    """Draw `held_out` lines, at most a tenth, and `lines` others to train on, all unless it is given.

    A line to train on has neither side in common with one that is held out, by the comparison of
    `zsnmt.corpora.overlap`.
    """
    order = generator.sample(range(len(other)), len(other))
    held = order[: min(held_out, len(order) // LEAST_KEPT)]
    unseen = {normalise(side[place]) for place in held for side in (pivot, other)}
    apart = [
        place
        for place in order[len(held) :]
        if normalise(pivot[place]) not in unseen and normalise(other[place]) not in unseen
    ]
    return Selection(sorted(apart[:lines]), sorted(held))
