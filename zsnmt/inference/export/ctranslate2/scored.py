"""Translations with the log-probabilities that an engine is held to."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from zsnmt.decoding.search import Sentence
from zsnmt.inference.export.agreement import Agreement
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine

BATCH = 32  # sentences


class Scored(NamedTuple):
    """A sentence, a translation of it, and PyTorch's log-probability of each of its tokens, EOS among
    them.
    """

    sentence: Sentence
    tokens: list[int]
    log_probabilities: list[float]


def agreement(engine: CTranslate2Engine, expected: Sequence[Scored]) -> Agreement:
    """How far the engine's log-probabilities are from those expected."""
    ours = [
        value
        for batch in make_batches(expected)
        for values in engine.log_probabilities(
            [each.sentence for each in batch], [each.tokens for each in batch]
        )
        for value in values
    ]
    return agreement_of(ours, [value for each in expected for value in each.log_probabilities])


def agreement_of(ours: Sequence[float], theirs: Sequence[float]) -> Agreement:
    """How far the log-probabilities of the same tokens are apart."""
    apart = np.subtract(ours, theirs)
    return Agreement(float(np.abs(apart).max()), float(np.sqrt(np.mean(apart**2))), len(apart))


def make_batches(items: Sequence) -> Iterable[Sequence]:
    """Items in batches."""
    return (items[begin : begin + BATCH] for begin in range(0, len(items), BATCH))
