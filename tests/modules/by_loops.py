"""Self-attention with a loop over sentences, heads, queries and keys: what the modules' short forms must
equal.
"""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from zsnmt.modules.self_attention import SelfAttention

T, B, C, H = 5, 3, 8, 2
D = C // H


def make_attention(dropout: float = 0.0, seed: int = 5) -> SelfAttention:
    """Self-attention in float64, for evaluation, whose biases are not zero."""
    torch.manual_seed(seed)
    attention = SelfAttention(C, H, dropout=dropout, self_attention=True).double().eval()
    for projection in (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj):
        nn.init.normal_(projection.bias)
    return attention


def make_input(seed: int = 1) -> Tensor:
    return torch.randn(T, B, C, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make_padding() -> Tensor:
    """B×T, True at padding: sentences of 5, 3 and 4 tokens, padded on the left."""
    return torch.arange(T) < torch.tensor([[0], [2], [1]])


def is_token(padding: Tensor | None) -> Tensor:
    """T×B, True at tokens."""
    return torch.ones(T, B, dtype=torch.bool) if padding is None else ~padding.t()


def make_causal() -> Tensor:
    """T×T, -inf where a key comes after the query."""
    return torch.full((T, T), -math.inf, dtype=torch.float64).triu(1)


def by_loops(
    attention: SelfAttention,
    x: Tensor,
    logit: Callable[..., Tensor],
    value: Callable[..., Tensor] = lambda v, i, j: v,
    padding: Tensor | None = None,
    causal: bool = False,
    query: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Results (T×B×C) and probabilities (B×H×T×T) from `logit(q, k, i, j, h, b)` and `value(v, i, j)`, q, k
    and v of d.

    Zero where a query sees nothing. x: T×B×C, also the query's input unless there is another; padding: B×T.
    """
    results, probabilities = x.new_zeros(T, B, C), x.new_zeros(B, H, T, T)
    inputs = x if query is None else query
    for b, h, i in itertools.product(range(B), range(H), range(T)):
        own = slice(h * D, (h + 1) * D)
        q = attention.q_proj(inputs[i, b])[own]
        seen = [j for j in range(T) if not (padding is not None and padding[b, j]) and not (causal and j > i)]
        if seen:
            logits = [logit(q, attention.k_proj(x[j, b])[own], i, j, h, b) for j in seen]
            p = torch.stack(logits).exp() / torch.stack(logits).exp().sum()
            for place, j in enumerate(seen):
                probabilities[b, h, i, j] = p[place]
                results[i, b, own] = results[i, b, own] + p[place] * value(
                    attention.v_proj(x[j, b])[own], i, j
                )
    return results @ attention.out_proj.weight.t() + attention.out_proj.bias, probabilities


def plain(q: Tensor, k: Tensor, *_) -> Tensor:
    """The logit of plain attention (Li 2019, equation 3)."""
    return q @ k / math.sqrt(D)
