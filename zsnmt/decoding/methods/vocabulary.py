"""Which pieces a translation into a language may have: those that occur in the language's training text."""

import math
import unicodedata
from collections.abc import Mapping, Sequence

import torch
from fairseq.data import Dictionary
from torch import Tensor

from zsnmt.decoding.methods.settings import Mask

PieceCounts = Mapping[str, Sequence[int]]  # of a language: how often each symbol of the dictionary occurs


def penalties(mask: Mask, counts: PieceCounts, dictionary: Dictionary) -> dict[str, Tensor]:
    """What a mask adds to the log-probability of each symbol (V), for each language: 0, or less where the
    symbol is a rare piece of the language.

    Special symbols and pieces without a letter, such as numbers and punctuation, are free in all languages.
    """
    free = torch.tensor(
        [
            number < dictionary.nspecial or not has_letter(symbol)
            for number, symbol in enumerate(dictionary.symbols)
        ]
    )
    of_others = -math.inf if mask.penalty is None else -mask.penalty
    return {
        language: torch.zeros(len(dictionary)).masked_fill(
            ~free & (torch.tensor(of_language) < mask.pieces), of_others
        )
        for language, of_language in counts.items()
    }


def has_letter(piece: str) -> bool:
    """Whether a piece has a letter, or a mark that is written on one."""
    return any(unicodedata.category(character)[0] in "LM" for character in piece)
