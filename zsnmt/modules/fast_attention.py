"""What attention computes between its projections, in few passes over few tensors."""

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn import functional as F

from zsnmt.modules.cheap_dropout import mask_like

SHORT = 64  # keys, up to which PyTorch's softmax, which works row by row, takes longer than its parts


class FastAttention(torch.autograd.Function):
    """softmax(scale · q kᵀ + bias), dropped out, times v, and its gradients.

    Logits and probabilities are float32 at least; what is multiplied has the type of q, k and v.
    """

    @staticmethod
    def forward(
        ctx: FunctionCtx, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, p: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """From q (B×H×Tq×d), k and v (B×H×Tk×d), a bias that broadcasts to the logits, and the probability of
        dropout.

        Returns what is attended (B×H×Tq×d), the probabilities (B×H×Tq×Tk), and what dropout keeps of them.
        """
        shape, (q, k, v) = q.shape[:2], (each.flatten(0, 1) for each in (q, k, v))  # BH×T×d
        logits = torch.bmm(q, k.transpose(1, 2)).to(torch.promote_types(q.dtype, torch.float32)).mul_(scale)
        logits = logits.unflatten(0, shape)
        probabilities = softmax_in_place(logits if bias is None else logits.add_(bias))
        kept = probabilities.to(q.dtype, copy=True)
        mask = mask_like(kept, p) if p > 0 else None
        if mask is not None:
            kept.mul_(mask)
        ctx.save_for_backward(q, k, v, probabilities, kept, mask)
        ctx.scale, ctx.bias = scale, bias if bias is None else (bias.shape, bias.dtype)
        ctx.set_materialize_grads(False)
        return torch.bmm(kept.flatten(0, 1), v).unflatten(0, shape), probabilities, kept

    @staticmethod
    @once_differentiable
    def backward(
        ctx: FunctionCtx, of_attended: Tensor | None, of_probabilities: Tensor | None, of_kept: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        """From the gradients of the three results to those of q, k, v and the bias, each in its shape."""
        q, k, v, probabilities, kept, mask = ctx.saved_tensors
        shape, of_v = probabilities.shape[:2], None
        if of_attended is not None:
            of_attended = of_attended.flatten(0, 1).contiguous()  # BH×Tq×d
            of_v = torch.bmm(kept.flatten(0, 1).transpose(1, 2), of_attended).unflatten(0, shape)
            through_v = torch.bmm(of_attended, v.transpose(1, 2)).unflatten(0, shape)
            of_kept = through_v if of_kept is None else through_v + of_kept
        if of_kept is not None:
            through_kept = of_kept if mask is None else of_kept * mask
            of_probabilities = through_kept if of_probabilities is None else through_kept + of_probabilities
        of_logits = probabilities * of_probabilities
        of_logits.addcmul_(probabilities, of_logits.sum(dim=-1, keepdim=True), value=-1)
        of_bias = None
        if ctx.needs_input_grad[3]:
            of_bias = of_logits.sum_to_size(ctx.bias[0]).to(ctx.bias[1])
        of_products = (of_logits * ctx.scale).to(q.dtype).flatten(0, 1)
        of_q = torch.bmm(of_products, k).unflatten(0, shape)
        of_k = torch.bmm(of_products.transpose(1, 2), q).unflatten(0, shape)
        return of_q, of_k, of_v, of_bias, None, None


def softmax_in_place(logits: Tensor) -> Tensor:
    """From logits (…×Tk) to probabilities over the last dimension, in the place of the logits where that is
    faster.
    """
    if logits.size(-1) > SHORT:
        return F.softmax(logits, dim=-1)
    logits.sub_(logits.amax(dim=-1, keepdim=True)).exp_()
    return logits.div_(logits.sum(dim=-1, keepdim=True))
