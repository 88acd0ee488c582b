"""The target language as part of the decoder's input (Pham et al. 2019; Liu et al. 2021, section 3.2)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class LanguageEmbedding(nn.Module):
    """Adds or concatenates the target language's vector to every input of the decoder.

    The language is read from the decoder's first token, its tag: no state, no extra input, the same
    in training and at every incremental step. With `concat` the vector also takes the place of the
    tag's own input (position included), and [input ; language] is projected by Linear and ReLU, as
    in the reference code (the paper says neither).
    """

    def __init__(self, tags: Sequence[int], vocabulary_size: int, embed_dim: int, combination: str) -> None:
        """`tags`: dictionary ids of the languages' tags; `combination`: `add` or `concat`, ValueError for
        another.
        """
        super().__init__()
        if combination not in ("add", "concat"):
            raise ValueError(f"combination is '{combination}'; it must be add or concat")
        self.table = nn.Embedding(len(tags), embed_dim)
        nn.init.normal_(self.table.weight, mean=0, std=embed_dim**-0.5)
        self.project = None
        if combination == "concat":
            self.project = nn.Linear(2 * embed_dim, embed_dim)
            nn.init.xavier_uniform_(self.project.weight)
            nn.init.zeros_(self.project.bias)
        row_of_token = torch.full((vocabulary_size,), -1)
        row_of_token[torch.tensor(list(tags))] = torch.arange(len(tags))
        self.register_buffer("row_of_token", row_of_token, persistent=False)

    def forward(self, x: Tensor, prev_output_tokens: Tensor) -> Tensor:
        """From embedded inputs x (B×T×C; the last T of the prefix) and the prefix (B×≥T) to B×T×C.

        Raises `ValueError` if a prefix does not begin with a language tag.
        """
        rows = self.row_of_token[prev_output_tokens[:, 0]]
        begins = x.size(1) == prev_output_tokens.size(1)  # x begins with the tag
        if begins and bool((rows < 0).any()):  # not asked at later steps: a GPU would be waited for
            raise ValueError(
                "a decoder input does not begin with a language tag, so its target language is unknown; "
                "choose --language-tags that place one there, or set --decoder-language-embedding none"
            )
        language = self.table(rows).unsqueeze(1).type_as(x)  # B×1×C
        if self.project is None:
            return x + language
        if begins:
            x = torch.cat([language, x[:, 1:]], dim=1)
        return torch.relu(self.project(torch.cat([x, language.expand_as(x)], dim=-1)))
