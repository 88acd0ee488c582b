"""The position encodings of Ravishankar and Søgaard (2021, Table 1) for a bidirectional encoder.

Sinusoidal and learned encodings are added to the input, by fairseq's own modules. TUPE (Ke et al. 2021) and
the relative keys of BERT models change the attention's logits instead, and leave the input without positions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from zsnmt.modules.position_query import token_positions
from zsnmt.modules.relative_attention import RelativeKeys, RelativeKeysAndQueries

if TYPE_CHECKING:  # elsewhere, without fairseq, an export brings this file alone
    from zsnmt.modules.self_attention import SelfAttention

# T5's: half of the buckets to either side, of them 8 for the offsets 0 to 7.
BUCKETS, EXACT, FARTHEST = 32, 8, 128


class TupePositions(nn.Module):
    """TUPE's bias of the attention's logits, one for all layers (Ke et al. 2021, equations 7 to 10).

    Untied: head h adds (LN(p_i)·U^Q)_h·(LN(p_j)·U^K)_h / √(2d) to the content's logits, themselves over
    √(2d). `relative` adds a learned scalar for every head and T5 bucket of the offset. `first_apart` gives
    the logits from and to the first token (a [CLS] that stands for the sentence, not for a place in it)
    values of their own.

    Raises ValueError for more tokens than `max_positions`.
    """

    def __init__(
        self,
        max_positions: int,
        embed_dim: int,
        heads: int,
        relative: bool = False,
        first_apart: bool = False,
    ) -> None:
        super().__init__()
        self.heads, self.first_apart = heads, first_apart
        # Rows 0 and 1 are for the first token apart: logits from it to others, and from others to it.
        self.table = nn.Embedding(max_positions + first_apart, embed_dim)
        self.layer_norm = nn.LayerNorm(embed_dim)
        self.q_proj, self.k_proj = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.buckets = nn.Embedding(BUCKETS + first_apart, heads) if relative else None
        nn.init.normal_(self.table.weight, std=embed_dim**-0.5)
        for projection in (self.q_proj, self.k_proj):  # as fairseq begins the content's
            nn.init.xavier_uniform_(projection.weight, gain=1 / math.sqrt(2))
            nn.init.zeros_(projection.bias)
        if self.buckets is not None:
            nn.init.normal_(self.buckets.weight, std=0.02)

    def forward(self, padding_mask: Tensor | None, length: int) -> Tensor:
        """From the padding (B×T, True at padding, on either side; or None) to the bias, B×H×T×T, or 1×H×T×T
        where no token has padding before it.
        """
        positions = token_positions(padding_mask, length, self.table.weight.device)  # B×T
        # Padding stands before a token on the left, and where a tag of the source is hidden.
        if padding_mask is None or not (padding_mask[:, :-1] & ~padding_mask[:, 1:]).any():
            positions = torch.arange(length, device=positions.device)[None]  # the same for all sentences
        rows = length + self.first_apart
        if rows > len(self.table.weight):
            raise ValueError(
                f"{length} tokens are too many for {len(self.table.weight) - self.first_apart} positions"
            )
        vectors = self.layer_norm(self.table.weight[:rows])  # P×C
        q, k = (
            projection(vectors[int(self.first_apart) :]).unflatten(-1, (self.heads, -1)).transpose(0, 1)
            for projection in (self.q_proj, self.k_proj)
        )  # H×T×d, by position
        scale = (2 * q.size(-1)) ** -0.5
        by_position = (q * scale) @ k.transpose(-1, -2)  # H×T×T
        bias = by_position[:, positions[:, :, None], positions[:, None]].transpose(0, 1)  # B×H×T×T
        if self.buckets is not None:
            bias = bias + self.buckets(relative_buckets(length, positions.device)).permute(2, 0, 1)
        return self.set_first_apart(bias, positions, vectors[:2], scale=scale) if self.first_apart else bias

    def set_first_apart(self, bias: Tensor, positions: Tensor, vectors: Tensor, scale: float) -> Tensor:
        """The bias (B×H×T×T) with logits from and to the first token in place of those of a place (of 2×C
        vectors); positions: B×T, 0 for the first token. For both, B may be 1.
        """
        q, k = (
            projection(vectors).unflatten(-1, (self.heads, -1)) for projection in (self.q_proj, self.k_proj)
        )  # 2×H×d
        from_first, to_first = (q * k).sum(dim=-1) * scale  # H each
        if self.buckets is not None:
            # No offset has the first bucket of the other side: offset 0 is on this side.
            from_first = from_first + self.buckets.weight[BUCKETS // 2]
            to_first = to_first + self.buckets.weight[BUCKETS]
        is_first = positions.eq(0)[:, None]  # B×1×T
        bias = torch.where(is_first[:, :, None], to_first[:, None, None], bias)
        return torch.where(is_first[..., None], from_first[:, None, None], bias)


def relative_buckets(length: int, device: torch.device | None = None) -> Tensor:
    """The T5 bucket of every offset j − i, T×T: 0 to 15 for a key at or to the left of the query, 16 to 31 to
    its right.

    Of either side 8 are exact and 8 widen logarithmically up to a distance of 128 (Raffel et al. 2020,
    section 2.1).
    """
    positions = torch.arange(length, device=device)
    offsets = positions - positions[:, None]  # T×T
    distance = offsets.abs()
    widening = (distance.clamp(min=EXACT) / EXACT).log() / math.log(FARTHEST / EXACT)
    farther = (EXACT + (widening * (BUCKETS // 2 - EXACT)).long()).clamp(max=BUCKETS // 2 - 1)
    return torch.where(distance < EXACT, distance, farther) + (offsets > 0) * (BUCKETS // 2)


def use_tupe(attentions: Iterable[SelfAttention]) -> None:
    """Scale the content's logits for the sum of two kinds of them: by 1/√(2d)."""
    for attention in attentions:
        attention.scaling = (2 * attention.head_dim) ** -0.5


def use_relative_keys(
    attentions: Iterable[SelfAttention],
    encoding: str,
    max_positions: int,
    product: bool = False,
    distance: int | None = None,
) -> None:
    """Give each self-attention relative keys, or relative keys and queries, for every offset below
    `max_positions`, or up to a distance beyond which offsets share the last vectors.

    The published index is the query's position minus the key's: the tables here are theirs in reverse order.
    """
    for attention in attentions:
        size = max_positions - 1 if distance is None else distance, attention.head_dim
        term = RelativeKeys(*size) if encoding == "relative_key" else RelativeKeysAndQueries(*size, product)
        nn.init.normal_(term.table.weight, std=0.02)
        attention.logit_terms.append(term)
