"""The terms of a first layer's logits that positions in the input bring with them, one by one.

An input w + p makes of the logits ((w_i + p_i)W^Q)((w_j + p_j)W^K)ᵀ four terms (Ravishankar and Søgaard 2021,
Table 1). They can be told apart in the first layer alone.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from zsnmt.modules.self_attention import SelfAttention

# query and key of the term; that of a position's query and a word's key the paper calls word-position
OF_WORDS_AND_POSITIONS = "no_position_word"
DROPPED_TERMS = {
    "no_position_position": ("positions", "positions"),
    OF_WORDS_AND_POSITIONS: ("words", "positions"),
    "no_word_position": ("positions", "words"),
}
SEPARATE = "separate_parameters"
ALL = "all"


class PositionTerms(nn.Module):
    """A bias of the logits that takes a term out, or projects positions by weights of their own (Figure 7
    of the paper).
    """

    def __init__(self, kind: str, embed_dim: int) -> None:
        super().__init__()
        self.kind = kind
        self.own = nn.ModuleList(
            nn.Linear(embed_dim, embed_dim, bias=False) for _ in "qk" if kind == SEPARATE
        )

    def forward(self, words: Tensor, positions: Tensor, attention: SelfAttention) -> Tensor:
        """From the shares of the layer's input, each B×T×C, to a bias, B×H×T×T. The projections' biases
        count as the words'.
        """
        weights = attention.q_proj.weight, attention.k_proj.weight
        word_parts = [projection(words) for projection in (attention.q_proj, attention.k_proj)]  # B×T×C each
        position_parts = [F.linear(positions, weight) for weight in weights]
        if self.kind == SEPARATE:
            own = [projection(positions) for projection in self.own]
            new, old = (
                logits(word_parts[0] + parts[0], word_parts[1] + parts[1], attention)
                for parts in (own, position_parts)
            )
            return new - old
        shares = {"words": word_parts, "positions": position_parts}
        query, key = DROPPED_TERMS[self.kind]
        return -logits(shares[query][0], shares[key][1], attention)


def logits(q: Tensor, k: Tensor, attention: SelfAttention) -> Tensor:
    """The attention's logits of queries and keys, each B×T×C: B×H×T×T."""
    q, k = (each.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2) for each in (q, k))  # B×H×T×d
    return (q * attention.scaling) @ k.transpose(-1, -2)


def shares(
    x: Tensor, words: Tensor, positions: Tensor, layer_norm: nn.LayerNorm, dropout: float
) -> tuple[Tensor, Tensor]:
    """What words and positions (B×T×C each) have contributed to x, their sum normalised and dropped out; they
    sum to x.

    Normalisation centres both and divides both by the deviation of the sum; its bias counts as the words'.
    """
    deviation = ((words + positions).var(dim=-1, correction=0, keepdim=True) + layer_norm.eps).sqrt()  # B×T×1
    centred = positions - positions.mean(dim=-1, keepdim=True)
    kept = x.ne(0).type_as(x) / (1 - dropout)  # what dropout did to x
    position_parts = kept * layer_norm.weight * centred / deviation
    return x - position_parts, position_parts
