"""Linear layers that train by oneDNN's kernels in float32, too, and one with its ReLU and dropout."""

import logging
import time
from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn import functional as F

from zsnmt.modules.cheap_dropout import CheapDropout, drop_in_place, factor

AVAILABLE = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
BFLOAT16 = AVAILABLE and torch.ops.mkldnn._is_mkldnn_bf16_supported()
ROWS = 1024  # of the products that are timed
ROUNDS, SECONDS = 5, 0.15  # they are timed so often at least, and for so long
CLEARLY = 1.25  # times as fast as oneDNN must PyTorch's own products be to be preferred

logger = logging.getLogger(__name__)


class OneDnnLinear(nn.Linear):
    """A linear layer that trains, in float32 on a CPU, by `onednn_linear`; elsewhere it is the stock
    layer, bit for bit.
    """

    def __init__(self, linear: nn.Linear) -> None:
        """Takes over the parameters of `linear`; no random number is drawn."""
        super().__init__(linear.in_features, linear.out_features, bias=linear.bias is not None, device="meta")
        self.weight, self.bias = linear.weight, linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """From …×C to …×D."""
        return (onednn_linear if self.training else F.linear)(x, self.weight, self.bias)


class OneDnnReluLinear(OneDnnLinear):
    """A linear layer, its ReLU, and the dropout of what that lets through.

    Where they train by one product, ReLU and dropout take its result's place, and their gradients are
    those of its elements that are positive: nothing else of their size is kept.
    """

    def __init__(self, linear: nn.Linear, dropout: CheapDropout) -> None:
        super().__init__(linear)
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        """From …×C to …×D."""
        dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else x.dtype
        if self.training and x.device.type == "cpu" and self.multiplies(x, dtype):
            rows = x.reshape(-1, x.size(-1)).to(dtype)
            result = ReluProduct.apply(rows, self.weight, self.bias, self.dropout.p)
            return result.view(*x.shape[:-1], -1)
        return self.dropout(torch.relu(super().forward(x)))

    def multiplies(self, x: Tensor, dtype: torch.dtype) -> bool:
        """Whether one product in a type makes the result of x (…×C), on a CPU."""
        wide = self.weight.dtype is torch.float32 and self.bias is not None and x.numel() > 0
        float32 = x.dtype is dtype is torch.float32
        return wide and ((BFLOAT16 and dtype is torch.bfloat16) or (float32 and is_chosen(self.weight)))


def joined_linear(x: Tensor, layers: Sequence[nn.Linear]) -> Tensor:
    """From x (…×C) by several layers that have a bias (D×C each) to …×ΣD: their results side by side, by one
    product, which reads x once.
    """
    if len(layers) == 1:
        return onednn_linear(x, layers[0].weight, layers[0].bias)
    weight, bias = (torch.cat([getattr(layer, name) for layer in layers]) for name in ("weight", "bias"))
    return onednn_linear(x, weight, bias)


def onednn_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """From x (…×C), a weight (D×C) and a bias (D, or None) to …×D: `F.linear` to rounding, and its gradients.

    PyTorch multiplies float32 on a CPU by MKL, which keeps its fastest kernels for Intel's processors; oneDNN
    does not. Where PyTorch's own products are clearly faster (`is_chosen`), for other types, mixed precision
    among them, and on other devices it is `F.linear`.
    """
    plain = (
        x.device.type == "cpu"
        and x.dtype == weight.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
    )
    if not (plain and x.numel() and is_chosen(weight)):
        return F.linear(x, weight, bias)
    return OneDnnProduct.apply(x.reshape(-1, x.size(-1)), weight, bias).view(*x.shape[:-1], -1)


def is_chosen(weight: Tensor) -> bool:
    """Whether oneDNN multiplies float32 by weights of this shape (D×C): where it is there, and PyTorch's own
    products are not clearly faster on this processor.
    """
    return AVAILABLE and is_fast(*weight.shape)


@cache
def is_fast(outputs: int, inputs: int) -> bool:
    """Whether oneDNN is about as fast as PyTorch, or faster, at the three products of a training step for
    weights of a shape, measured once, by one thread's own time, which other processes change little; no
    random number is drawn.
    """
    x, weight, gradient = (
        torch.ones(shape) for shape in ((ROWS, inputs), (outputs, inputs), (ROWS, outputs))
    )

    def by_onednn() -> None:
        multiply(x, weight)
        multiply(gradient, weight.t())
        gradient_of_weight(gradient, x)

    def by_pytorch() -> None:
        torch.mm(x, weight.t())
        torch.mm(gradient, weight)
        torch.mm(gradient.t(), x)

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    times: dict[Callable[[], None], list[float]] = {by_onednn: [], by_pytorch: []}
    while sum(map(sum, times.values())) < SECONDS or len(times[by_pytorch]) <= ROUNDS:
        for products, taken in times.items():
            begun = time.thread_time()
            products()
            taken.append(time.thread_time() - begun)
    torch.set_num_threads(threads)
    ratio = min(times[by_onednn]) / min(times[by_pytorch])
    if ratio > CLEARLY:
        logger.info(
            "PyTorch multiplies float32 by %d×%d weights %.1f times as fast as oneDNN", outputs, inputs, ratio
        )
    return ratio <= CLEARLY


class OneDnnProduct(torch.autograd.Function):
    """x Wᵀ + b for x (N×C), W (D×C) and b (D, or None), and its gradients, each product by `multiply`."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Returns N×D."""
        ctx.save_for_backward(x, weight)
        return multiply(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """From the gradient of the result (N×D) to those of x, W and b, each in its shape, or None where it
        is not wanted.
        """
        (x, weight), (wants_x, wants_weight, wants_bias) = ctx.saved_tensors, ctx.needs_input_grad
        return (
            multiply(gradient, weight.t()) if wants_x else None,
            gradient_of_weight(gradient, x) if wants_weight else None,
            gradient.sum(dim=0) if wants_bias else None,
        )


class ReluProduct(torch.autograd.Function):
    """The ReLU of x Wᵀ + b for x (N×C), W (D×C) and b (D), without the elements that are dropped, and its
    gradients, in the type of x.

    The factor of dropout, which the ReLU lets through, is on weights and bias, which are smaller than the
    result.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, weight: Tensor, bias: Tensor, p: float) -> Tensor:
        """Returns N×D, where each element is dropped with the probability p."""
        ctx.factor, ctx.dtype = factor(p) if p > 0 else 1.0, weight.dtype
        weight, bias = ((each * ctx.factor).to(x.dtype) for each in (weight, bias))
        result = multiply(x, weight, bias, relu=True)
        if p > 0:
            drop_in_place(result, p)
        ctx.save_for_backward(x, weight, result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """From the gradient of the result (N×D) to those of x, W and b, each in its shape, or None where it
        is not wanted.
        """
        (x, weight, result), (wants_x, wants_weight, wants_bias, _) = ctx.saved_tensors, ctx.needs_input_grad
        gradient = where_positive(gradient, result)
        return (
            multiply(gradient, weight.t()) if wants_x else None,
            gradient_of_weight(gradient, x).to(ctx.dtype).mul_(ctx.factor) if wants_weight else None,
            gradient.sum(dim=0).to(ctx.dtype).mul_(ctx.factor) if wants_bias else None,
            None,
        )


def gradient_of_weight(gradient: Tensor, x: Tensor) -> Tensor:
    """D×C, from the gradient of the result (N×D) and the input (N×C)."""
    # In float32 the wider factor is faster as the second.
    turned = gradient.size(1) > x.size(1) and x.dtype is torch.float32
    return multiply(x.t(), gradient.t()).t() if turned else multiply(gradient.t(), x.t())


def where_positive(gradient: Tensor, result: Tensor) -> Tensor:
    """The gradient (N×D) where the result (N×D, of the same type, nowhere negative) is positive, and 0
    elsewhere.
    """
    if result.dtype is not torch.bfloat16:
        return torch.ops.aten.threshold_backward(gradient, result, 0)
    # By the bits, which are 0 where the number is, since arithmetic in bfloat16 is slow.
    positive = result.view(torch.int16).clamp(0, 1)
    return positive.mul_(gradient.contiguous().view(torch.int16)).view(torch.bfloat16)


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None, relu: bool = False) -> Tensor:
    """x (N×C) by the transpose of `weight` (D×C), by oneDNN, whatever their strides; it has no gradient."""
    if x.dtype is torch.bfloat16 and bias is None:  # by oneDNN, too, and sooner
        return x @ weight.t()
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "relu" if relu else "none", [], "")
