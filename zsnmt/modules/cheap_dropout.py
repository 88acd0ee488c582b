"""Dropout whose mask costs a CPU little."""

import torch
from fairseq.modules.fairseq_dropout import FairseqDropout
from torch import Tensor

STEPS = 2**16  # that a random number of 16 bits can take
CHUNK = 2**17  # elements at a time, which stay in a core's cache
INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}  # by their bytes


class CheapDropout(FairseqDropout):
    """Dropout that draws, on a CPU, 16 random bits for an element and compares them with a threshold.

    PyTorch's Bernoulli draws a number of 64 bits for each. The probability becomes a multiple of 1/65536, and
    what is kept is scaled by that. The bits come from PyTorch's default generator, whose seed makes a run
    reproducible, but the masks are others than the stock dropout's. On other devices it is the stock dropout.

    Raises ValueError for a probability that is not at least 0 and below 1.
    """

    def __init__(self, p: float, module_name: str | None = None) -> None:
        super().__init__(p, module_name)
        if not 0 <= p < 1:
            raise ValueError(f"dropout probability is {p}; it must be at least 0 and below 1")

    def forward(self, x: Tensor, inplace: bool = False) -> Tensor:
        """From x of any shape to the same; `inplace` has an effect on other devices alone."""
        if x.device.type != "cpu" or not (self.training or self.apply_during_inference):
            return super().forward(x, inplace)
        return x if self.p == 0 else x * mask_like(x, self.p)

    def extra_repr(self) -> str:
        return f"p={self.p}"


def mask_like(x: Tensor, p: float) -> Tensor:
    """A factor for each element of x, in its shape: 0 with the probability p, to 1/65536, and what keeps the
    expectation elsewhere.
    """
    kept = ones_and_zeros(x.numel(), p).view(x.shape)
    if x.dtype is torch.bfloat16:  # by the factor's bits, since arithmetic in it is slow
        return kept.mul_(int(torch.tensor(factor(p), dtype=x.dtype).view(kept.dtype))).view(x.dtype)
    return kept.to(x.dtype).mul_(factor(p))


def drop_in_place(x: Tensor, p: float) -> None:
    """Zero each element of x (of any shape, contiguous) with the probability p, to 1/65536; the others lack
    the factor.
    """
    bits = x.view(-1).view(INTEGERS[x.element_size()])
    for part in bits.split(CHUNK):
        part.mul_(ones_and_zeros(len(part), p))


def ones_and_zeros(count: int, p: float) -> Tensor:
    """`count` numbers of 16 bits (N): 0 with the probability p, and 1."""
    words = torch.empty(-(-count // 4), dtype=torch.int64)
    words.random_(-(2**63), None)  # all 64 bits: without bounds the first of them is always 0
    least = drop_threshold(p) - STEPS // 2  # that is kept, of numbers from -STEPS / 2
    return words.view(torch.int16)[:count].clamp_(least - 1, least).sub_(least - 1)


def factor(p: float) -> float:
    """What keeps the expectation of what is not dropped."""
    return STEPS / (STEPS - drop_threshold(p))


def drop_threshold(p: float) -> int:
    """How many of the numbers that a random one can be drop an element: one at least, but not all."""
    return min(max(round(p * STEPS), 1), STEPS - 1)
