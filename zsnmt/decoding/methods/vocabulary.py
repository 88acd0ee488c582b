"""What a mask adds to log-probabilities."""

import math

import torch
from fairseq.data import Dictionary
from torch import Tensor

from zsnmt.decoding.methods.pieces import lettered, rare_pieces
from zsnmt.decoding.methods.settings import Mask
from zsnmt.text.piece_counts import PieceCounts

LEAST_SHARE = 1e-6  # of a piece in the text of a language: what a few occurrences by chance are


def penalties(mask: Mask, counts: PieceCounts, dictionary: Dictionary) -> dict[str, Tensor]:
    """What a mask adds to the log-probability of each symbol (V), in nats, for each language: 0, or less
    where the symbol is a rare piece of the language, or with `prefer` one that belongs to others too.
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
    """How surely each symbol belongs to each language (L×V): log P(l | v) in nats, 0 for special symbols and
    pieces without a letter.

    By Bayes' rule from the share of each piece in the text of each language, `LEAST_SHARE` more of each;
    languages are alike probable, however much text they have.
    """
    numbers, pieces = zip(*lettered(dictionary))
    occurrences = torch.tensor(
        [[of_language.get(piece, 0) for piece in pieces] for of_language in counts.values()]
    ).double()  # L×B, of the pieces with a letter
    shares = occurrences / occurrences.sum(1, keepdim=True).clamp(min=1) + LEAST_SHARE
    found = torch.zeros(len(counts), len(dictionary))  # L×V
    found[:, numbers] = (shares / shares.sum(0)).log().float()
    return found
