"""Dropout whose mask costs a CPU little."""

import torch
from fairseq.modules.fairseq_dropout import FairseqDropout
from torch import Tensor

STEPS = 2**16  # that a random number of 16 bits can take


class CheapDropout(FairseqDropout):
    """Dropout that draws, on a CPU, 16 random bits for an element and compares them with a threshold.

    PyTorch's Bernoulli draws a number of 64 bits for each. The probability becomes a multiple of 1/65536, and
    what is kept is scaled by that. The bits come from PyTorch's default generator, whose seed makes a run
    reproducible, but the masks are others than the stock dropout's. On other devices it is the stock dropout.
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
    """A factor for each element of x: 0 with the probability p, to 1/65536, and what keeps the expectation
    elsewhere.
    """
    dropped = min(round(p * STEPS), STEPS - 1)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64)
    words.random_(-(2**63), None)  # all 64 bits: without bounds the first of them is always 0
    numbers = words.view(torch.int16)[: x.numel()].view(x.shape)  # from -STEPS / 2
    kept = torch.ge(numbers, dropped - STEPS // 2, out=x.new_empty(x.shape))  # 0 and 1, of x's type
    return kept.mul_(STEPS / (STEPS - dropped))
