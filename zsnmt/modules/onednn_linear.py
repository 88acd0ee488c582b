"""Linear layers that train by oneDNN's kernels in float32, too."""

from typing import Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F

AVAILABLE = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


class OneDnnLinear(nn.Linear):
    """A linear layer that trains, in float32 on a CPU, by `onednn_linear`; elsewhere it is the stock layer, bit for bit."""

    def __init__(self, linear: nn.Linear) -> None:
        """Takes over the parameters of `linear`; no random number is drawn."""
        super().__init__(linear.in_features, linear.out_features, bias=linear.bias is not None, device="meta")
        self.weight, self.bias = linear.weight, linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """From …×C to …×D."""
        return (onednn_linear if self.training else F.linear)(x, self.weight, self.bias)


def onednn_linear(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """x (…×C) by a weight (D×C), plus a bias (D): `F.linear` to rounding, and its gradients.

    PyTorch multiplies float32 on a CPU by MKL, which takes its fastest kernels on Intel's processors alone; oneDNN takes
    them on any. Other types, mixed precision among them, and other devices go by `F.linear`.
    """
    plain = x.device.type == "cpu" and x.dtype == weight.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    if not (AVAILABLE and plain and x.numel()):
        return F.linear(x, weight, bias)
    return OneDnnProduct.apply(x, weight, bias)


class OneDnnProduct(torch.autograd.Function):
    """x Wᵀ + b and its gradients, each a product by `multiply`."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:
        ctx.save_for_backward(x, weight)
        return multiply(x.flatten(0, -2), weight, bias).view(*x.shape[:-1], len(weight))

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Optional[Tensor], ...]:
        x, weight = ctx.saved_tensors
        rows, inputs = gradient.flatten(0, -2), x.flatten(0, -2)  # N×D, N×C
        of_x = of_weight = None
        if ctx.needs_input_grad[0]:
            of_x = multiply(rows, weight.t()).view_as(x)
        if ctx.needs_input_grad[1]:  # faster with the wider factor second
            wider = rows.size(1) > inputs.size(1)
            of_weight = multiply(inputs.t(), rows.t()).t() if wider else multiply(rows.t(), inputs.t())  # D×C
        return of_x, of_weight, rows.sum(dim=0) if ctx.needs_input_grad[2] else None


def multiply(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """x (N×C) by the transpose of `weight` (D×C), by oneDNN; without a gradient."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
