"""The target language, told to upper layers of the encoder and hidden from the others (Sun et al. 2024)."""

import torch
from torch import Tensor, nn


class TargetLanguage(nn.Module):
    """Reads the target's tag at the head of sources; the layers do not see it.

    `place`: how many tokens stand before the tag, padding not counted; they move up into its place, so that
    no position, and no distance of two, counts it. It has no parameters.
    """

    def __init__(self, place: int, padding_idx: int) -> None:
        super().__init__()
        self.place, self.padding_idx = place, padding_idx

    def forward(self, src_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """From sources (B×T, padded on any side) to these with padding in place of the tag, before all other
        tokens, and tags (B×1).
        """
        first = src_tokens.ne(self.padding_idx).int().argmax(dim=1, keepdim=True)  # B×1
        place = first + self.place
        columns = torch.arange(src_tokens.size(1), device=src_tokens.device)
        moves = (columns > first) & (columns <= place)  # B×T, where a token moves to
        moved = torch.where(moves, src_tokens.roll(1, dims=1), src_tokens)
        hidden = moved.scatter(1, first, torch.full_like(first, self.padding_idx))
        return hidden, src_tokens.gather(1, place)
