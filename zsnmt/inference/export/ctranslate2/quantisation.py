"""Weights in 8 bits that mean the same on every processor.

CTranslate2 multiplies inputs in 8 bits without sign by weights in 8 bits with one. A row of weights is scaled
by its largest pair (`zsnmt.decoding.neighbours`), so all processors compute the same. The price is a rounding
coarser by the ratio of that to its largest weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zsnmt.decoding.neighbours import LARGEST_PAIR, largest_pairs
from zsnmt.decoding.options import FLOAT32, INT8
from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.library import ctranslate2

if TYPE_CHECKING:
    from ctranslate2.specs.model_spec import LayerSpec, ModelSpec

QUANTIZATIONS = (FLOAT32, INT8, "int8_float32", "bfloat16", "float16")
EIGHT_BITS = (INT8, "int8_float32")  # on a CPU the same
REFUSED = {
    "int16": "CTranslate2 computes int16 on Intel processors alone, where it cuts inputs off at 32.767, "
    "which the large numbers of a removed residual and those of trained models exceed; choose int8"
}


def check_quantization(quantization: str) -> str:
    """The quantization; `InputError` with the reason for one that is not offered."""
    if quantization not in QUANTIZATIONS:
        reason = REFUSED.get(quantization, f"choose {', '.join(QUANTIZATIONS)}")
        raise InputError(f"--quantization {quantization} is not offered: {reason}")
    return quantization


def quantise(spec: ModelSpec, quantization: str) -> None:
    """Bring a specification's weights into the type in which they are kept."""
    check_quantization(quantization)
    if quantization not in EIGHT_BITS:
        spec.optimize(quantization)
        return
    spec.optimize()  # equal weights are kept once
    ctranslate2().specs.model_spec.visit_spec(spec, quantise_int8)


def quantise_int8(spec: LayerSpec, name: str, value: object) -> None:
    """Replace a part's variable by its 8-bit form and its scales, if it has them."""
    library, attribute = ctranslate2().specs.model_spec, name.split("/")[-1]
    if not (isinstance(value, library.Variable) and hasattr(spec, f"{attribute}_scale")):
        return
    quantised, scales = int8_rows(value.to("float32").numpy())
    setattr(spec, attribute, library.NumpyVariable(quantised))
    setattr(spec, f"{attribute}_scale", library.NumpyVariable(scales))


def int8_rows(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A weight (D×C) in int8, and the factor (D) by which each of its rows was multiplied before it was
    rounded.
    """
    largest = largest_pairs(weight)  # D
    smallest = LARGEST_PAIR / np.finfo(np.float32).max  # so that every scale is a number
    scales = (LARGEST_PAIR / np.where(largest == 0, LARGEST_PAIR, np.maximum(largest, smallest))).astype(
        np.float32
    )
    return np.rint(weight * scales[:, None]).astype(np.int8), scales
