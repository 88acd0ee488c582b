"""Small layers of a language's own between the decoder's (Bapna and Firat 2019, section 2.1)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class LanguageAdapter(nn.Module):
    """x + up(relu(down(norm(x)))), through a bottleneck; the identity until it is trained, since up begins
    at zero.
    """

    def __init__(self, embed_dim: int, adapter_dim: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(embed_dim)
        self.down = nn.Linear(embed_dim, adapter_dim)
        self.up = nn.Linear(adapter_dim, embed_dim)
        nn.init.xavier_uniform_(self.down.weight)
        for zero in (self.down.bias, self.up.weight, self.up.bias):
            nn.init.zeros_(zero)

    def forward(self, x: Tensor) -> Tensor:
        """From …×C to …×C."""
        return x + self.up(torch.relu(self.down(self.norm(x))))


class LanguageAdapters(nn.Module):
    """What follows one decoder layer: an adapter for each added language, nothing for the others.

    An adapter changes only the rows of a batch whose target language is its own; the language is read
    from the decoder's first token, its tag. There are none in the encoder, which does not know the
    language it reads, nor under most tag placements the one it is read for. Those that train without a row in
    a batch have zero gradients there, not none, as data parallel training needs.
    """

    def __init__(self, tags: Sequence[int], embed_dim: int, adapter_dim: int) -> None:
        """`tags`: dictionary ids of the tags of the added languages, in the order of the adapters. Raises
        ValueError for an `adapter_dim` below 1.
        """
        super().__init__()
        if adapter_dim < 1:
            raise ValueError(f"adapter dimension is {adapter_dim}; it must be 1 or more")
        self.tags = tuple(tags)
        self.adapters = nn.ModuleList(LanguageAdapter(embed_dim, adapter_dim) for _ in self.tags)

    def since(self, tag: int) -> list[LanguageAdapter]:
        """The adapters of the languages whose tags have this id or a higher one."""
        return [adapter for of, adapter in zip(self.tags, self.adapters) if of >= tag]

    def forward(self, x: Tensor, prev_output_tokens: Tensor) -> Tensor:
        """From a layer's output x (T×B×C) and the prefix (B×≥T) to T×B×C."""
        for tag, adapter in zip(self.tags, self.adapters):
            rows = (prev_output_tokens[:, 0] == tag).nonzero().squeeze(1)
            if len(rows) or (self.training and adapter.up.weight.requires_grad):
                x = x.index_copy(1, rows, adapter(x[:, rows]))
        return x
