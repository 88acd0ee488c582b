"""Mixed precision on a CPU, where it is asked for and the processor gains by it."""

import logging
import platform
from functools import cache

import torch
from torch import nn

logger = logging.getLogger(__name__)


def cpu_bfloat16(wanted: bool, model: nn.Module) -> torch.autocast:
    """What a training step stands in: bfloat16 where it is safe, if it is wanted, the model on a CPU, and
    the processor one that multiplies in it.
    """
    if wanted and (device := next(model.parameters()).device.type) != "cpu":
        say_without_effect(f"on a {device} device: train with --bf16 there")
    elif wanted and not multiplies_bfloat16():
        say_without_effect("on this processor, which would be slower so: the training computes in float32")
        wanted = False
    return torch.autocast("cpu", torch.bfloat16, enabled=wanted)


@cache
def multiplies_bfloat16() -> bool:
    """Whether the processor has instructions that multiply in bfloat16. Without AVX-512 PyTorch emulates
    them, and a product takes ten times as long as in float32.
    """
    if platform.machine() in ("x86_64", "AMD64"):
        return getattr(torch.cpu, "_is_avx512_bf16_supported", bool)()
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


@cache
def say_without_effect(where: str) -> None:
    """A line in the log, once."""
    logger.warning("--cpu-bf16 has no effect %s", where)
