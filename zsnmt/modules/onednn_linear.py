"""Linear layers that train by oneDNN's kernels in float32, too."""

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn import functional as F

AVAILABLE = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


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


def onednn_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """From x (…×C), a weight (D×C) and a bias (D, or None) to …×D: `F.linear` to rounding, and its gradients.

    PyTorch multiplies float32 on a CPU by MKL, which keeps its fastest kernels for Intel's processors; oneDNN
    does not. Other types, mixed precision among them, and other devices go by `F.linear`.
    """
    plain = (
        x.device.type == "cpu"
        and x.dtype == weight.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
    )
    if not (AVAILABLE and plain and x.numel()):
        return F.linear(x, weight, bias)
    return OneDnnProduct.apply(x.reshape(-1, x.size(-1)), weight, bias).view(*x.shape[:-1], -1)


class OneDnnProduct(torch.autograd.Function):
    """x Wᵀ + b for x (N×C), W (D×C) and b (D, or None), and its gradients, each product by `multiply`."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return multiply(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (x, weight), (wants_x, wants_weight, wants_bias) = ctx.saved_tensors, ctx.needs_input_grad
        of_weight = None
        if wants_weight:
            wider = gradient.size(1) > x.size(1)  # the factor that is faster as the second
            of_weight = multiply(x.t(), gradient.t()).t() if wider else multiply(gradient.t(), x.t())  # D×C
        return (
            multiply(gradient, weight.t()) if wants_x else None,
            of_weight,
            gradient.sum(dim=0) if wants_bias else None,
        )


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x (N×C) by the transpose of `weight` (D×C), by oneDNN, whatever their strides; it has no gradient."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
