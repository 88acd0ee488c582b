"""The loss of a target that a model should not write."""

import torch
from torch import Tensor

LEAST = 1e-9  # of 1 - p, as in the code of Zan et al.


def unlikelihood(log_probabilities: Tensor) -> Tensor:
    """Zan et al. (2023): the sum of -log(1 - p) over tokens, in nats, from their log-probabilities (N).

    1 - p is bounded from below, and where it is smaller there is no gradient.
    """
    return -torch.log((-torch.expm1(log_probabilities)).clamp_min(LEAST)).sum()
