"""Mixed precision on a CPU, where it is asked for."""

import logging
from functools import cache

import torch
from torch import nn

logger = logging.getLogger(__name__)


def cpu_bfloat16(wanted: bool, model: nn.Module) -> torch.autocast:
    """What a training step stands in: bfloat16 where it is safe, if it is wanted and the model on a CPU."""
    if wanted and (device := next(model.parameters()).device.type) != "cpu":
        say_without_effect(device)
    return torch.autocast("cpu", torch.bfloat16, enabled=wanted)


@cache
def say_without_effect(device: str) -> None:
    """A line in the log, once."""
    logger.warning("--cpu-bf16 has no effect on a %s device: train with --bf16 there", device)
