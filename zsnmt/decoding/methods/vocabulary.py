"""What a mask adds to log-probabilities."""

import math

import torch
from fairseq.data import Dictionary
from torch import Tensor

from zsnmt.decoding.methods.pieces import rare_pieces
from zsnmt.decoding.methods.settings import Mask
from zsnmt.text.piece_counts import PieceCounts


def penalties(mask: Mask, counts: PieceCounts, dictionary: Dictionary) -> dict[str, Tensor]:
    """What a mask adds to the log-probability of each symbol (V), for each language: 0, or less where the
    symbol is a rare piece of the language.
    """
    of_others = -math.inf if mask.penalty is None else -mask.penalty
    return {
        language: torch.zeros(len(dictionary)).index_fill_(0, torch.tensor(rare).long(), of_others)
        for language, rare in rare_pieces(mask, counts, dictionary).items()
    }
