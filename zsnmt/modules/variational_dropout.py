"""Dropout whose mask is shared over time (Gal and Ghahramani 2016)."""

from fairseq.modules import FairseqDropout
from torch import Tensor, nn


class VariationalDropout(nn.Module):
    """Zeroes the same features at all time steps of a sentence, independently per sentence; in training, and
    where fairseq's `--retain-dropout` asks for it.

    `time_axis` is 0 for T×B×C tensors (inside layers) and 1 for B×T×C (embeddings). Raises ValueError for a
    probability that is not at least 0 and below 1.
    """

    def __init__(self, p: float, time_axis: int, module_name: str | None = None) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"dropout probability is {p}; it must be at least 0 and below 1")
        self.p, self.time_axis = p, time_axis
        self.module_name, self.apply_during_inference = module_name, False

    make_generation_fast_ = FairseqDropout.make_generation_fast_

    def forward(self, x: Tensor) -> Tensor:
        """From T×B×C or B×T×C to the same."""
        if self.p == 0 or not (self.training or self.apply_during_inference):
            return x
        shape = list(x.shape)
        shape[self.time_axis] = 1
        return x * x.new_empty(shape).bernoulli_(1 - self.p).div_(1 - self.p)

    def extra_repr(self) -> str:
        return f"p={self.p}, time_axis={self.time_axis}"
