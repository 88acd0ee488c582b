"""Feed-forward blocks of the target languages' own beside a decoder layer's (Qu and Watanabe 2022)."""

import re
from collections.abc import Mapping, Sequence

import torch
from torch import Size, Tensor, nn

# How the weights of a decoder layer's blocks are called in a model, with the number of the layer, from 0: all
# of them, and the w.
OF_BLOCKS = re.compile(r"decoder\.layers\.\d+\.language_feed_forward\..+")
NAME_OF_WEIGHTS = re.compile(r"decoder\.layers\.(\d+)\.language_feed_forward\.weights")


class LanguageFeedForward(nn.Module):
    """w · Dropout(W₂ relu(W₁ x)) with weights of the row's target language; zero where it has none.

    w is a learned number for each language, 0.1 at the start. Blocks without a row in a batch have zero
    gradients there, not none, as data parallel training needs.
    """

    START = 0.1

    def __init__(self, tags: Sequence[int], embed_dim: int, ffn_dim: int, dropout: nn.Module) -> None:
        """`tags`: dictionary ids of the tags of the languages that have a block. Raises ValueError for an
        `ffn_dim` below 1.
        """
        super().__init__()
        if ffn_dim < 1:
            raise ValueError(f"the dimension of the blocks is {ffn_dim}; it must be 1 or more")
        self.tags, self.dropout_module = tuple(tags), dropout
        self.widen = nn.ModuleList(nn.Linear(embed_dim, ffn_dim) for _ in tags)
        self.narrow = nn.ModuleList(nn.Linear(ffn_dim, embed_dim) for _ in tags)
        self.weights = nn.Parameter(torch.full((len(tags),), self.START))
        for linear in (*self.widen, *self.narrow):
            nn.init.xavier_uniform_(linear.weight)

    def since(self, tag: int) -> list[nn.Linear]:
        """The linear layers of the languages whose tags have this id or a higher one."""
        parts = zip(self.tags, self.widen, self.narrow)
        return [linear for of, *linears in parts if of >= tag for linear in linears]

    def forward(self, x: Tensor, languages: Tensor) -> Tensor:
        """From the input of the layer's block (T×B×C) and tags (B) to T×B×C."""
        places, made = [], []
        for tag, widen, narrow, weight in zip(self.tags, self.widen, self.narrow, self.weights):
            rows = (languages == tag).nonzero().squeeze(1)
            if self.training or len(rows):
                of_language = self.dropout_module(narrow(torch.relu(widen(x[:, rows]))))
                places.append(rows)
                made.append((weight * of_language).type_as(x))
        added = torch.zeros_like(x)
        return added.index_copy(1, torch.cat(places), torch.cat(made, dim=1)) if places else added


def silent_blocks(sizes: Mapping[str, Size], seed: int) -> dict[str, Tensor]:
    """The weights of language blocks, by their names in a model and of these sizes, that add nothing to it at
    first: W₂ is zero, and all else as at the start of a training. W₂ learns from the first update on.
    """
    made: dict[str, Tensor] = {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for name, (languages, *_) in sizes.items():
            if not NAME_OF_WEIGHTS.fullmatch(name):
                continue
            stem = name.removesuffix("weights")
            ffn_dim, embed_dim = sizes[f"{stem}widen.0.weight"]
            blocks = LanguageFeedForward(range(languages), embed_dim, ffn_dim, dropout=nn.Identity())
            for weight in blocks.narrow.parameters():
                nn.init.zeros_(weight)
            made |= {f"{stem}{part}": weight for part, weight in blocks.state_dict().items()}
    return made
