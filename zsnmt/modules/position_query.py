"""Self-attention queries made from positions alone (Liu et al. 2021, section 2.2)."""

import math

import torch
from torch import Tensor, nn


def token_positions(padding_mask: Tensor | None, length: int, device: torch.device | None = None) -> Tensor:
    """Positions of the tokens counted from 0, whatever side the padding is on.

    `padding_mask` is B×T, True at padding, or None where nothing is padded. Returns B×T (or 1×T
    without a mask); padding has the position of a neighbour, which nobody reads.
    """
    if padding_mask is None:
        return torch.arange(length, device=device).unsqueeze(0)
    return ((~padding_mask.bool()).long().cumsum(dim=1) - 1).clamp(min=0)


def sinusoids(positions: Tensor, embed_dim: int, base: float) -> Tensor:
    """Sinusoidal encodings [sin | cos] of any positions: shape of `positions` × C.

    Frequencies run geometrically from 1 to 1/base, as in tensor2tensor and fairseq with base 10000.
    """
    half = embed_dim // 2
    frequencies = torch.exp(
        torch.arange(half, device=positions.device) * -(math.log(base) / max(half - 1, 1))
    )
    angles = positions.unsqueeze(-1) * frequencies  # B×T×C/2
    encodings = torch.cat([angles.sin(), angles.cos()], dim=-1)  # B×T×C
    return nn.functional.pad(encodings, (0, embed_dim - 2 * half))


class PositionQuery(nn.Module):
    """Pure position encodings that take the place of the query's input in one encoder layer.

    They are the same for every sentence; not normalised, scaled, dropped out or mixed with the layer's input.
    `base` replaces the 10000 of the model's own encodings: the paper's "wave length 100" (its released code
    says 10). Raises ValueError for a base that is not above 1 and finite.
    """

    def __init__(self, embed_dim: int, base: float = 100.0) -> None:
        super().__init__()
        if not 1 < base < math.inf:  # which no NaN is
            raise ValueError(
                f"position query base is {base}; it must be above 1 and finite (the paper has 100)"
            )
        self.embed_dim = embed_dim
        self.base = base

    def forward(self, layer_input: Tensor, padding_mask: Tensor | None) -> Tensor:
        """From the layer's input (T×B×C, only its shape and type are read) and the padding mask
        (B×T, True at padding) to the query's input (T×B×C)."""
        length, batch, _ = layer_input.shape
        positions = token_positions(padding_mask, length, layer_input.device)
        places = torch.arange(length, device=layer_input.device)
        table = sinusoids(places, self.embed_dim, self.base).type_as(layer_input)  # T×C
        encodings = nn.functional.embedding(positions, table)  # B×T×C
        return encodings.transpose(0, 1).expand(length, batch, self.embed_dim)

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, base={self.base}"
