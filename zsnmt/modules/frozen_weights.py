"""Weights, and rows of tables, that keep their bits while others are trained."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class FrozenWeights(nn.Module):
    """Parameters that require no gradient while the model they belong to is in training mode.

    Evaluated, they require one as those of any other model: a linear layer of PyTorch takes another way,
    with other last bits, for weights that require none, even where no gradient is computed.
    """

    def __init__(self, weights: Iterable[nn.Parameter]) -> None:
        super().__init__()
        self.weights = tuple(weights)  # a tuple does not register them a second time
        self.train(self.training)

    def train(self, mode: bool = True) -> "FrozenWeights":
        for weight in self.weights:
            weight.requires_grad_(not mode)
        return super().train(mode)


def freeze_rows(table: nn.Parameter, number: int) -> None:
    """Make the gradient of the first `number` rows of a table (N×…) zero from now on.

    Adam without weight decay, beginning anew, then leaves their bits as they are; moments of an earlier
    training, or a change of precision, would not.
    """

    def zero_gradient(gradient: Tensor) -> Tensor:
        return torch.cat([torch.zeros_like(gradient[:number]), gradient[number:]])

    table.register_hook(zero_gradient)
