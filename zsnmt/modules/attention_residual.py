"""What is added to the output of an encoder layer's self-attention (Liu et al. 2021, section 2.1).

Each module is called with the attention's output, the layer's input (both T×B×C) and the padding
mask (B×T, True at padding, or None) and returns T×B×C. None has parameters.
"""

from collections.abc import MutableMapping

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


class EarlyRemoval(nn.Module):
    """Nothing is added in the first updates of a training; from then on the layer's input is, as ever.

    Whether it has come back is kept with the weights, so that a training that begins with a checkpoint goes
    on as that ended. A mean of weights from before and after is the one or the other, by what they mostly
    are. Raises ValueError for less than one update.
    """

    back: Tensor  # 1: 1 where the residual has come back, and 0 before; in a mean something between

    def __init__(self, updates: int) -> None:
        super().__init__()
        if updates < 1:
            raise ValueError(f"updates is {updates}; it must be 1 or more")
        self.updates = updates
        self.register_buffer("back", torch.zeros(1))

    def set_num_updates(self, num_updates: int) -> None:
        """What fairseq calls before each update, with the number of those that are done."""
        if num_updates >= self.updates:
            self.back.fill_(1)

    def forward(self, attended: Tensor, layer_input: Tensor, padding_mask: Tensor | None) -> Tensor:
        """attended and layer_input: T×B×C; padding_mask: B×T, True at padding. Returns T×B×C."""
        return self.back.ge(0.5).type_as(layer_input) * layer_input + attended

    def settled(self) -> KeepResidual | RemoveResidual:
        """What it is at present, for good."""
        return KeepResidual() if self.back.item() >= 0.5 else RemoveResidual()


SWITCH = ".attention_residual.back"  # ends the name under which checkpoints keep it


def is_switch(name: str) -> bool:
    """Whether what a checkpoint keeps under this name says whether a residual has come back."""
    return name.endswith(SWITCH)


def match_switch(residual: nn.Module, state: MutableMapping[str, Tensor], name: str) -> None:
    """Make the weights of a layer of this name fit its residual: a model without early removal reads those of
    one with it, and the other way round. With those of a plain model the removal begins anew; a layer that
    another one stands for, as in a student of fewer layers, is as far as others.
    """
    key = name + SWITCH
    if not isinstance(residual, EarlyRemoval):
        state.pop(key, None)
    elif key not in state:
        others = (value.clone() for other, value in state.items() if is_switch(other))
        state[key] = next(others, torch.zeros_like(residual.back))


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
