"""Attention by relative positions: Shaw et al. (2018), and the learned relative keys of BERT models (Huang et
al. 2020).

An offset is the key's position minus the query's, j − i, clipped to −k…k. Instead of a vector for every pair
of positions, T×T×d, which the papers' equations have, each query meets the 2k+1 vectors once (T×(2k+1)) and
the products are read out by offset; for values, the probabilities are summed by offset and meet the vectors
then. Both are exact. Offsets are differences, so padding on the left changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:  # elsewhere, without fairseq, an export brings this file alone
    from zsnmt.modules.self_attention import SelfAttention


class OffsetTable(nn.Module):
    """A vector of d dimensions for every offset −k…k, shared by the heads; begins as Tensor2Tensor's (Glorot,
    uniform). Raises ValueError for a distance k below 0.
    """

    def __init__(self, distance: int, dim: int) -> None:
        super().__init__()
        if distance < 0:
            raise ValueError(f"clip distance is {distance}; it must be 0 or more")
        self.distance = distance
        self.weight = nn.Parameter(torch.empty(2 * distance + 1, dim))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, queries: int, keys: int) -> tuple[Tensor, Tensor]:
        """The vectors that occur between this many keys and as many of the last positions as there are
        queries, W×d with W ≤ 2k+1, and for each pair which of them it is, Tq×Tk.
        """
        reach = min(self.distance, keys - 1)
        positions = torch.arange(keys, device=self.weight.device)
        offsets = positions - positions[keys - queries :, None]  # Tq×Tk
        vectors = self.weight[self.distance - reach : self.distance + reach + 1]
        return vectors, offsets.clamp(-reach, reach) + reach

    def extra_repr(self) -> str:
        return f"distance={self.distance}, dim={self.weight.size(1)}"


class RelativeKeys(nn.Module):
    """A term of the logits: q_i·a_{j−i}, scaled (Shaw et al. 2018, equation 5; Li 2019, equation 5;
    "relative key").
    """

    def __init__(self, distance: int, dim: int) -> None:
        super().__init__()
        self.table = OffsetTable(distance, dim)

    def forward(self, q: Tensor, k: Tensor, scale: float) -> Tensor:
        """q: B×H×Tq×d; k: B×H×Tk×d. Returns B×H×Tq×Tk."""
        vectors, index = self.table(q.size(2), k.size(2))
        return spread(q @ (vectors * scale).t(), index)


class RelativeKeysAndQueries(nn.Module):
    """A term of the logits: q_i·a_{j−i} + k_j·a_{j−i}, scaled (Huang et al. 2020, "relative key/query").

    With `product` also a·a, which makes the logits those of the product (q_i + a)·(k_j + a), as Ravishankar
    and Søgaard (2021) print it in Table 1; the code that they name has no such term.
    """

    def __init__(self, distance: int, dim: int, product: bool = False) -> None:
        super().__init__()
        self.table = OffsetTable(distance, dim)
        self.product = product

    def forward(self, q: Tensor, k: Tensor, scale: float) -> Tensor:
        """q: B×H×Tq×d; k: B×H×Tk×d. Returns B×H×Tq×Tk."""
        vectors, index = self.table(q.size(2), k.size(2))
        scaled = (vectors * scale).t()
        by_key = spread(k @ scaled, index.t()).transpose(-1, -2)  # B×H×Tk×Tq, then B×H×Tq×Tk
        logits = spread(q @ scaled, index) + by_key
        return logits + (vectors.pow(2).sum(dim=1) * scale)[index] if self.product else logits


class RelativeValues(nn.Module):
    """What relative positions add to the values: Σ_j p_ij·a_{j−i} (Shaw et al. 2018, equation 3; Li 2019,
    equation 4).
    """

    def __init__(self, distance: int, dim: int) -> None:
        super().__init__()
        self.table = OffsetTable(distance, dim)

    def forward(self, probabilities: Tensor) -> Tensor:
        """From probabilities (B×H×Tq×Tk) to B×H×Tq×d; summed in float32 at least."""
        vectors, index = self.table(*probabilities.shape[2:])
        wide = probabilities.to(torch.promote_types(probabilities.dtype, torch.float32))
        return collect(wide, index, len(vectors)).type_as(probabilities) @ vectors.type_as(probabilities)


def spread(values: Tensor, index: Tensor) -> Tensor:
    """A value for every offset, …×T×W, read out for every pair of positions by its index (T×S): …×T×S."""
    return values.gather(-1, index.expand(*values.shape[:-1], -1))


def collect(values: Tensor, index: Tensor, width: int) -> Tensor:
    """A value for every pair of positions, …×T×S, summed by its index (T×S, below `width`): …×T×W. Adjoint
    of `spread`.
    """
    return values.new_zeros(*values.shape[:-1], width).scatter_add(-1, index.expand_as(values), values)


def use_relative_attention(attentions: Iterable[SelfAttention], distance: int) -> None:
    """Give each self-attention relative keys and values of its own, as Shaw et al. (2018) and Li (2019).

    `distance` is the papers' k: offsets are clipped to −k…k. With 0 all positions look alike. Raises
    ValueError below.
    """
    for attention in attentions:
        attention.logit_terms.append(RelativeKeys(distance, attention.head_dim))
        attention.relative_values = RelativeValues(distance, attention.head_dim)
