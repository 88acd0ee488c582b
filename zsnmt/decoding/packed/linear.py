"""Linear layers packed for translation, in float32, in float16 or with 8-bit weights."""

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from zsnmt.decoding.neighbours import LARGEST_PAIR, largest_pairs
from zsnmt.decoding.options import FLOAT16, FLOAT32, INT8, PRECISIONS
from zsnmt.errors import InputError
from zsnmt.modules.onednn_linear import AVAILABLE

Linear = Callable[[Tensor], Tensor]  # from …×C to …×D
LARGE = 2**20  # numbers in a weight; with fewer, MKL is faster than oneDNN on Intel's processors
PROCESSOR = Path("/proc/cpuinfo")  # what Linux says of it


@cache
def is_intel() -> bool:
    """Whether the processor is Intel's, whose float32 PyTorch multiplies by MKL's fastest kernels."""
    known = PROCESSOR.is_file() and "GenuineIntel" in PROCESSOR.read_text(encoding="utf-8")
    return known and torch.backends.mkl.is_available()


def check_precision(precision: str, device: torch.device) -> str:
    """The precision; `InputError` for one that this installation or device has not."""
    if precision not in PRECISIONS:
        raise InputError(f"there is no precision '{precision}'; choose {' or '.join(PRECISIONS)}")
    if precision == INT8 and device.type != "cpu":
        raise InputError(
            "int8 is for a CPU; leave out --precision, or hide the GPU with CUDA_VISIBLE_DEVICES=''"
        )
    if precision == FLOAT16 and device.type == "cpu":
        raise InputError("float16 is for a GPU, and there is none; leave out --precision, or give int8")
    if precision == INT8 and not {"fbgemm", "x86", "onednn"} & {*torch.backends.quantized.supported_engines}:
        raise InputError("this PyTorch has no 8-bit linear layers; leave out --precision")
    return precision


def pack(weight: Tensor, bias: Tensor | None, precision: str, relu: bool = False) -> Linear:
    """A linear layer (weight D×C, bias D or None), with ReLU behind it if asked for. In float16 they are so
    already.

    With int8 a row of weights has a step of its own, and inputs one for each call, all of them together.
    """
    weight, bias = weight.detach().contiguous(), None if bias is None else bias.detach()
    plain = weight.device.type == "cpu" and weight.dtype == torch.float32
    if precision == FLOAT32 and AVAILABLE and plain and not (is_intel() and weight.numel() < LARGE):
        return lambda x: torch.ops.mkldnn._linear_pointwise.default(
            x, weight, bias, "relu" if relu else "none", [], ""
        )
    if precision != INT8:
        return (
            (lambda x: F.linear(x, weight, bias).relu_()) if relu else (lambda x: F.linear(x, weight, bias))
        )
    packed = pack_int8(weight.float(), None if bias is None else bias.float())
    kernel = torch.ops.quantized.linear_relu_dynamic if relu else torch.ops.quantized.linear_dynamic
    multiply = kernel.default  # what the kernel's name alone would look for at each call
    return lambda x: multiply(x, packed)


def int8_steps(weight: Tensor) -> Tensor:
    """For each row of a weight (D×C) the step (D) between its numbers in 8 bits.

    The largest weight is 127 of them, and without VNNI the largest pair (`zsnmt.decoding.neighbours`). That
    loses less than inputs of 7 bits would: each row has a step of its own, all inputs share one.
    """
    vnni = torch.cpu._is_vnni_supported()
    largest = weight.abs().amax(1) if vnni else torch.from_numpy(largest_pairs(weight.numpy()))
    return (largest / LARGEST_PAIR).clamp(min=torch.finfo(torch.float32).tiny)


def pack_int8(weight: Tensor, bias: Tensor | None) -> torch.ScriptObject:
    """A weight (D×C) in 8 bits and a bias (D, or None), for PyTorch's kernels."""
    steps = int8_steps(weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch announces another form of these tensors
        quantised = torch.quantize_per_channel(
            weight, steps.double(), torch.zeros(len(steps), dtype=torch.long), 0, torch.qint8
        )
        return torch.ops.quantized.linear_prepack(quantised, bias)
