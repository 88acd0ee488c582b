"""The label-smoothed loss of logits, from log-probabilities that exist for some tokens at a time."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional as F

# Log-probabilities computed at a time: on a CPU what stays in its cache, elsewhere what keeps a GPU busy.
CHUNK = {"cpu": 2**17, "cuda": 2**26}


class ChunkedLoss(torch.autograd.Function):
    """fairseq's `label_smoothed_nll_loss`, to rounding, and its gradient, which takes the place of the
    logits.

    So nothing but the logits is kept, and there is one backward pass. On a CPU the gradient is written while
    the log-probabilities are at hand, so that each exponential is computed once: the logits are gone after
    the forward pass. It is scaled in the backward pass, where a scale other than 1 rounds it once more. On
    other devices, and in float16, it is written in the backward pass: scaled in float32 before it is rounded
    to the type of the logits, as fairseq's is, so that a loss scale keeps that of float16 from vanishing.
    """

    @staticmethod
    def forward(
        ctx: FunctionCtx, logits: Tensor, target: Tensor, smoothing: float, count_correct: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """From logits (N×V) and target tokens (N, none of them padding) to sums over the tokens.

        Returns the loss, the negative log-likelihood (both in nats), and how many targets are the likeliest
        token, or 0 where they are not counted; the first alone has a gradient.
        """
        loss, nll, correct = (torch.zeros((), device=logits.device) for _ in range(3))
        on_target, on_every = weights_of(smoothing, logits.size(1))
        ctx.written = ctx.needs_input_grad[0] and writes_gradient(logits)
        for part, wanted in chunks(logits, target.unsqueeze(1)):
            log_probabilities = F.log_softmax(part, dim=-1, dtype=torch.float32)
            part_nll = -log_probabilities.gather(1, wanted).sum()
            nll += part_nll
            loss += on_target * part_nll - on_every * log_probabilities.sum()
            if count_correct:
                correct += log_probabilities.argmax(1, keepdim=True).eq(wanted).sum()
            if ctx.written:
                part.copy_(gradient_of(log_probabilities, wanted, smoothing))
        ctx.save_for_backward(logits, target)
        ctx.smoothing = smoothing
        ctx.mark_non_differentiable(nll, correct)
        return loss, nll, correct

    @staticmethod
    def backward(ctx: FunctionCtx, scale: Tensor, *unused: Tensor) -> tuple[Tensor, None, None, None]:
        """From the gradient of the loss (a scalar) to that of the logits (N×V)."""
        logits, target = ctx.saved_tensors
        if ctx.written:
            return logits if scale.item() == 1 else logits.mul_(scale), None, None, None
        for part, wanted in chunks(logits, target.unsqueeze(1)):
            log_probabilities = F.log_softmax(part, dim=-1, dtype=torch.float32)
            torch.mul(gradient_of(log_probabilities, wanted, ctx.smoothing), scale, out=part)
        return logits, None, None, None


def gradient_of(log_probabilities: Tensor, wanted: Tensor, smoothing: float) -> Tensor:
    """The gradient of the loss by the logits (n×V), in the place of their log-probabilities, from these and
    the targets (n×1).
    """
    on_target, on_every = weights_of(smoothing, log_probabilities.size(1))
    gradient = log_probabilities.exp_().sub_(on_every)
    return gradient.scatter_add_(1, wanted, gradient.new_full(wanted.shape, -on_target))


def weights_of(smoothing: float, vocabulary: int) -> tuple[float, float]:
    """What the loss gives to the target's log-probability beyond that of every token, and what to that of
    every token.
    """
    on_every = smoothing / (vocabulary - 1)
    return 1 - smoothing - on_every, on_every


def writes_gradient(logits: Tensor) -> bool:
    """Whether the gradient by logits (N×V) is written in the forward pass, before it is scaled."""
    return logits.device.type == "cpu" and logits.dtype is not torch.float16


def chunks(logits: Tensor, *others: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Parts of logits (N×V), in place, of some tokens at a time, each with those of others (N×…)."""
    rows = max(1, CHUNK.get(logits.device.type, CHUNK["cuda"]) // logits.size(1))
    return zip(*(each.split(rows) for each in (logits, *others)))
