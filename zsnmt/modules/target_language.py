"""The target language, told to upper layers of the encoder and hidden from the others (Sun et al. 2024)."""

import torch
from torch import Tensor, nn


class TargetLanguage(nn.Module):
    """Reads the target's tag at the head of sources; the layers do not see it.

    `place`: how many tokens stand before the tag, padding not counted. It has no parameters.
    """

    def __init__(self, place: int, padding_idx: int) -> None:
        super().__init__()
        self.place, self.padding_idx = place, padding_idx

    def forward(self, src_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """From sources (B×T, padded on any side) to these with padding in the tag's place, and tags (B×1)."""
        place = src_tokens.ne(self.padding_idx).int().argmax(dim=1, keepdim=True) + self.place  # B×1
        hidden = src_tokens.scatter(1, place, torch.full_like(place, self.padding_idx))
        return hidden, src_tokens.gather(1, place)
