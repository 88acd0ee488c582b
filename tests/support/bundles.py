"""What searches by a method are given: several sentences for one output, and masks."""

from collections.abc import Sequence

import torch

from tests.conftest import LANGUAGES
from tests.support.decoding import FIRST_WORD, TAGS, SmallTask, made_sentences
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.search import Sentence

DICTIONARY = SmallTask().target_dictionary


def bundles_of(number: int, sources: int = 3, weights: Sequence[float] = ()) -> list[Bundle]:
    """Sentences into one language each, with other sources that go into the same."""
    first, *others = (made_sentences(number, seed=seed) for seed in range(3, 3 + sources))
    return [
        Bundle(
            LANGUAGES[sentence.start - TAGS[0]],
            (sentence, *(Sentence(of_row[row].source, sentence.start) for of_row in others)),
            tuple(weights[: sources - 1]),
        )
        for row, sentence in enumerate(first)
    ]


def masks(value: float, seed: int = 4) -> dict[str, torch.Tensor]:
    """A penalty of half of the words, others for each language."""
    generator = torch.Generator().manual_seed(seed)
    size = len(DICTIONARY)
    chosen = [torch.rand(size, generator=generator) < 0.5 for _ in LANGUAGES]
    return {
        language: torch.zeros(size).masked_fill(half & (torch.arange(size) >= FIRST_WORD), value)
        for language, half in zip(LANGUAGES, chosen)
    }
