"""What a mask adds to log-probabilities."""

import math

import torch
from fairseq.data import Dictionary
from torch import Tensor

from zsnmt.decoding.methods.pieces import has_letter, rare_pieces
from zsnmt.decoding.methods.settings import Mask
from zsnmt.text.piece_counts import PieceCounts


def penalties(mask: Mask, counts: PieceCounts, dictionary: Dictionary) -> dict[str, Tensor]:
    """What a mask adds to the log-probability of each symbol (V), for each language: 0, or less where the
    symbol is a rare piece of the language, or with `prefer` one that belongs to others too.
    """
    if mask.prefer is not None:
        belonging = log_probabilities_of_languages(counts, dictionary)
        return {language: mask.prefer * of_language for language, of_language in zip(counts, belonging)}
    of_others = -math.inf if mask.penalty is None else -mask.penalty
    return {
        language: torch.zeros(len(dictionary)).index_fill_(0, torch.tensor(rare).long(), of_others)
        for language, rare in rare_pieces(mask, counts, dictionary).items()
    }


def log_probabilities_of_languages(counts: PieceCounts, dictionary: Dictionary) -> Tensor:
    """How surely each symbol belongs to each language (L×V): log P(l | v), 0 for special symbols and pieces
    without a letter.

    By Bayes' rule from the frequencies of the pieces in each language, with one occurrence more of each and
    languages that are alike probable, however much text they have.
    """
    free = [
        number < dictionary.nspecial or not has_letter(symbol)
        for number, symbol in enumerate(dictionary.symbols)
    ]
    occurrences = torch.tensor(
        [
            [1.0 + of_language.get(symbol, 0) for symbol in dictionary.symbols]
            for of_language in counts.values()
        ]
    ).double()  # L×V
    occurrences[:, torch.tensor(free)] = 0
    frequencies = occurrences / occurrences.sum(1, keepdim=True)
    belonging = (frequencies / frequencies.sum(0)).log().float()
    return belonging.masked_fill(torch.tensor(free), 0)
