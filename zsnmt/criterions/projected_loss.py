"""Output projection and label-smoothed loss in one step, which keeps the logits and nothing else of their size."""

from typing import Iterator, Optional

import torch
from torch import Tensor
from torch.nn import functional as F

# Log-probabilities computed at a time: on a CPU what stays in its cache, on a GPU what keeps it busy.
CHUNK = {"cpu": 2**19, "cuda": 2**26}


class ProjectedLoss(torch.autograd.Function):
    """The loss of fairseq's `label_smoothed_nll_loss` on the logits of a linear layer, and its gradients, to rounding.

    Log-probabilities and gradients of the logits (float32) exist for a chunk of tokens at a time. The gradients take the
    place of the logits, so one forward pass has one backward pass. They are scaled before they are rounded to the type of
    the logits, that of autocast where it is on, as fairseq's are: a loss scale keeps those of float16 from vanishing.
    """

    @staticmethod
    def forward(
        ctx, features: Tensor, weight: Tensor, bias: Optional[Tensor], target: Tensor, smoothing: float, count_correct: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """From features (N×C), an output layer (V×C, V or None) and target tokens (N, none of them padding) to sums.

        Returns the loss, the negative log-likelihood (both in nats), and how many targets are the likeliest token, or 0
        where they are not counted; the first alone has gradients.
        """
        device = features.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype
        x, table = features.to(dtype), weight.to(dtype)
        logits = F.linear(x, table, None if bias is None else bias.to(dtype))  # N×V
        loss, nll, correct = (torch.zeros((), device=features.device) for _ in range(3))
        on_target, elsewhere = shares(smoothing, weight.size(0))
        for part, wanted in chunks(logits, target):
            log_probabilities = F.log_softmax(part, dim=-1, dtype=torch.float32)
            part_nll = -log_probabilities.gather(1, wanted).sum()
            nll += part_nll
            loss += on_target * part_nll - elsewhere * log_probabilities.sum()
            if count_correct:
                correct += log_probabilities.argmax(1, keepdim=True).eq(wanted).sum()
        ctx.save_for_backward(x, table, logits, target)
        ctx.smoothing = smoothing
        ctx.dtypes = features.dtype, weight.dtype, None if bias is None else bias.dtype
        ctx.mark_non_differentiable(nll, correct)
        return loss, nll, correct

    @staticmethod
    def backward(ctx, scale: Tensor, *unused: Tensor) -> tuple[Optional[Tensor], ...]:
        x, table, logits, target = ctx.saved_tensors
        on_target, elsewhere = shares(ctx.smoothing, table.size(0))
        for part, wanted in chunks(logits, target):
            gradient = F.softmax(part, dim=-1, dtype=torch.float32).sub_(elsewhere)
            gradient.scatter_add_(1, wanted, gradient.new_full(wanted.shape, -on_target))
            torch.mul(gradient, scale, out=part)
        of_features, of_weight, of_bias, *_ = ctx.needs_input_grad
        feature_type, weight_type, bias_type = ctx.dtypes
        return (
            torch.mm(logits, table).to(feature_type) if of_features else None,
            torch.mm(logits.t(), x).to(weight_type) if of_weight else None,
            logits.sum(0, dtype=bias_type) if of_bias else None,
            *(None, None, None),
        )


def shares(smoothing: float, vocabulary: int) -> tuple[float, float]:
    """Weight of the target's own log-probability, beyond that of every token; and the latter."""
    elsewhere = smoothing / (vocabulary - 1)
    return 1 - smoothing - elsewhere, elsewhere


def chunks(logits: Tensor, target: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Parts of logits (n×V) with their targets (n×1)."""
    rows = max(1, CHUNK.get(logits.device.type, CHUNK["cuda"]) // logits.size(1))
    return zip(logits.split(rows), target.unsqueeze(1).split(rows))
