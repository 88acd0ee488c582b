"""Sentences with spans of their tokens masked (Wang et al. 2021, as BART)."""

import math

import torch
from torch import Tensor

EDGE = 4  # mean lengths before a sentence in which a span may begin that reaches into it


class SpanNoise:
    """Spans of tokens that one symbol stands for, drawn anew in each call from PyTorch's random numbers.

    About `share` (0–1, below 1) of the tokens are masked, at every place equally often; lengths of spans
    follow Poisson's distribution with the mean `length`. Spans that touch are one. Symbols in `kept` stay.
    Raises ValueError for a share out of range, and a length that is not above 0 and finite.
    """

    def __init__(self, share: float, length: float, *, mask: int, kept: tuple[int, ...]) -> None:
        if not 0 <= share < 1:
            raise ValueError(f"the share of masked tokens is {share}; it must be at least 0 and below 1")
        if not 0 < length < math.inf:  # which no NaN is
            raise ValueError(f"the mean length of a span is {length}; it must be above 0 and finite")
        self.length, self.mask, self.kept = length, mask, kept
        self.beginning = 1 - (1 - share) ** (1 / length)  # the probability that a span begins at a token

    def __call__(self, tokens: Tensor, pad: int) -> Tensor:
        """From sentences (B×T) to the same with masks; `pad` where tokens went, anywhere in a row."""
        hidden = self.span_mask(tokens)
        first = hidden & ~torch.nn.functional.pad(hidden, (1, 0))[:, :-1]
        return tokens.masked_fill(hidden, pad).masked_fill(first, self.mask)

    def span_mask(self, tokens: Tensor) -> Tensor:
        """Which tokens (B×T) a span covers: B×T, True there."""
        edge = math.ceil(EDGE * self.length)
        size = len(tokens), edge + tokens.size(1)
        place = torch.arange(size[1], device=tokens.device)
        lengths = torch.poisson(torch.full(size, self.length, device=tokens.device))
        begun = torch.rand(size, device=tokens.device) < self.beginning
        end = torch.where(begun, place + lengths, torch.zeros_like(lengths)).cummax(dim=1).values
        hidden = (end > place)[:, edge:]
        for symbol in self.kept:
            hidden = hidden & tokens.ne(symbol)
        return hidden
