"""The sum over tokens of any loss of logits, which is computed for some tokens at a time."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from zsnmt.losses.chunked_loss import chunks, writes_gradient

Loss = Callable[..., Tensor]  # from the targets of n tokens, and the logits (n×V) of each reading of them


class ChunkedSum(torch.autograd.Function):
    """A loss that is a sum over tokens, to rounding, and its gradient, which takes the place of the logits.

    Several logits are those of the same tokens, read from different sources. Nothing but they is kept: what
    a loss computes of them on its way is there for some tokens at a time. As in `ChunkedLoss`, the gradient
    is written in the forward pass on a CPU, and elsewhere, and in float16, in the backward pass.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, loss: Loss, target: Tensor, *logits: Tensor) -> Tensor:
        """From target tokens (N) and logits (N×V each), which must be of no use to others, to a sum."""
        ctx.loss, ctx.written = loss, any(ctx.needs_input_grad) and writes_gradient(logits[0])
        total: Tensor | float = 0.0
        for *parts, wanted in chunks(*logits, target):
            with torch.set_grad_enabled(ctx.written):
                leaves = [part.detach().requires_grad_(ctx.written) for part in parts]
                value = loss(wanted, *leaves)
            if ctx.written:
                write_gradients(value, leaves, parts)
            total = total + value.detach()
        ctx.save_for_backward(target, *logits)
        return total

    @staticmethod
    def backward(ctx: FunctionCtx, scale: Tensor) -> tuple[Tensor | None, ...]:
        """From the gradient of the sum (a scalar) to those of the logits (N×V each)."""
        target, *logits = ctx.saved_tensors
        if ctx.written:
            return None, None, *(each if scale.item() == 1 else each.mul_(scale) for each in logits)
        for *parts, wanted in chunks(*logits, target):
            with torch.enable_grad():
                leaves = [part.detach().requires_grad_() for part in parts]
                value = ctx.loss(wanted, *leaves)
            write_gradients(value, leaves, parts, scale=scale)
        return None, None, *logits


def write_gradients(
    value: Tensor, leaves: Sequence[Tensor], parts: Sequence[Tensor], scale: Tensor | None = None
) -> None:
    """Put the gradients of a value by some logits (n×V), each in its place; zeros where it has none."""
    gradients = torch.autograd.grad(value, leaves, scale, allow_unused=True, materialize_grads=True)
    for part, gradient in zip(parts, gradients):
        part.copy_(gradient)
