"""What is added to the output of an encoder layer's self-attention (Liu et al. 2021, section 2.1).

Each module is called with the attention's output, the layer's input (both T×B×C) and the padding
mask (B×T, True at padding, or None) and returns T×B×C. None has parameters.
"""

import torch
from torch import Tensor, nn


class KeepResidual(nn.Module):
    """The stock residual connection: the layer's input is added."""

    def forward(self, attended: Tensor, layer_input: Tensor, padding_mask: Tensor | None) -> Tensor:
        """attended and layer_input: T×B×C; padding_mask: B×T, True at padding. Returns T×B×C."""
        return layer_input + attended


class RemoveResidual(nn.Module):
    """Nothing is added, so word positions are not carried over: the method of Liu et al."""

    def forward(self, attended: Tensor, layer_input: Tensor, padding_mask: Tensor | None) -> Tensor:
        """attended and layer_input: T×B×C; padding_mask: B×T, True at padding. Returns T×B×C."""
        return attended


class MeanPoolResidual(nn.Module):
    """The mean of the layer's input over the sentence's tokens is added (Liu et al., footnote 6)."""

    def forward(self, attended: Tensor, layer_input: Tensor, padding_mask: Tensor | None) -> Tensor:
        """attended and layer_input: T×B×C; padding_mask: B×T, True at padding. Returns T×B×C."""
        if padding_mask is None:
            return attended + layer_input.mean(dim=0, keepdim=True)
        is_token = (~padding_mask.bool()).t().unsqueeze(-1).type_as(layer_input)  # T×B×1
        # Divided first, since half precision does not hold the sum of a long sentence.
        return attended + (layer_input * (is_token / is_token.sum(0, keepdim=True))).sum(0, keepdim=True)


class StochasticResidual(nn.Module):
    """The layer's input is added with probability 1-q for a whole batch, scaled by 1/(1-q) in training.

    An ablation of the reference code, not of the paper; q grows with the depth of the layer. Raises
    ValueError for a q that is not at least 0 and below 1.
    """

    def __init__(self, drop_probability: float) -> None:
        super().__init__()
        if not 0 <= drop_probability < 1:
            raise ValueError(f"drop_probability is {drop_probability}; it must be at least 0 and below 1")
        self.drop_probability = drop_probability

    def forward(self, attended: Tensor, layer_input: Tensor, padding_mask: Tensor | None) -> Tensor:
        """attended and layer_input: T×B×C; padding_mask: B×T, True at padding. Returns T×B×C."""
        if not self.training:
            return layer_input + attended
        if torch.rand(()).item() < self.drop_probability:
            return attended
        return layer_input / (1 - self.drop_probability) + attended
