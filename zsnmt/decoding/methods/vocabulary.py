"""Which pieces a translation into a language may have: those that occur in the language's training text."""

import math
import unicodedata

import torch
from fairseq.data import Dictionary
from torch import Tensor

from zsnmt.decoding.methods.settings import Mask
from zsnmt.errors import InputError
from zsnmt.text.piece_counts import PieceCounts


def penalties(mask: Mask, counts: PieceCounts, dictionary: Dictionary) -> dict[str, Tensor]:
    """What a mask adds to the log-probability of each symbol (V), for each language: 0, or less where the
    symbol is a rare piece of the language.

    Special symbols and pieces without a letter, such as numbers and punctuation, are free in all languages.
    """
    of_others = -math.inf if mask.penalty is None else -mask.penalty
    bound = [
        (number, symbol)
        for number, symbol in enumerate(dictionary.symbols)
        if number >= dictionary.nspecial and has_letter(symbol)
    ]
    masks = {}
    for language, of_language in counts.items():
        rare = [number for number, symbol in bound if of_language.get(symbol, 0) < mask.pieces]
        if len(rare) == len(bound):
            raise InputError(
                f"a mask of pieces that occur {mask.pieces} times leaves none with a letter to {language}; "
                "give a smaller number of pieces="
            )
        masks[language] = torch.zeros(len(dictionary)).index_fill_(0, torch.tensor(rare).long(), of_others)
    return masks


def has_letter(piece: str) -> bool:
    """Whether a piece has a letter, or a mark that is written on one."""
    return any(unicodedata.category(character)[0] in "LM" for character in piece)
