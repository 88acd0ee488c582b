"""The decoder layer that joins the target language to the decoder's input (see
`zsnmt.modules.language_embedding`).

CTranslate2 knows no language embedding. It gets a decoder layer more, the first, whose self-attention looks
from every step at the first token, the tag, and adds to the step's input what the language adds there. To be
found, and to say which language it is, a tag's row of the embedding table has coordinates more than a word's:

    [ content | +c, −c | ±c ±c ... ]     of a tag: a mark, and a code of the language
    [ content | 0, 0   | 0 0 ...   ]     of a word

The query is a constant and the key the difference of the mark's two coordinates, so that all attention is on
the tag. The values are the code's coordinates. Codes are rows of a Hadamard matrix but its first: orthogonal
to each other and to the constant row, so that one projection turns each code into its language's vector,
whatever mean the normalisation takes away. The layer's feed-forward block applies the ReLU, where there is
one, and leaves the further coordinates out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import hadamard

from zsnmt.inference.export.ctranslate2.layers import Reader, idle_attention, linear
from zsnmt.inference.export.ctranslate2.library import ctranslate2
from zsnmt.modules.language_embedding import LanguageEmbedding

if TYPE_CHECKING:
    from ctranslate2.specs.transformer_spec import TransformerDecoderLayerSpec

MARK = 2  # coordinates
# the least logit of the tag, where those of words are 0: their probabilities are 0 in any precision
CERTAIN = 1000.0


class JoinedInput(NamedTuple):
    """Tables of a decoder's input, embeddings (V×C) and positions (T×C), and what each language adds to it
    (N×C).

    `tags`: the ids of the languages' tags. With `rectified`, the layers' input is the ReLU of the sum, else
    the sum.
    """

    embeddings: np.ndarray
    positions: np.ndarray
    additions: np.ndarray
    tags: np.ndarray
    rectified: bool


def joined_input(
    language: LanguageEmbedding, embeddings: np.ndarray, positions: np.ndarray, read: Reader
) -> JoinedInput:
    """The input that a language embedding makes of tables of embeddings, scaled, and positions.

    Where it is concatenated, [input ; language] is projected: the input's part of the projection is applied
    to the tables beforehand, and the language's part is what is added. The language's vector takes the place
    of the tag's own input.
    """
    rows = language.row_of_token.cpu().numpy()
    tags = np.argsort(rows)[(rows < 0).sum() :]  # in the order of the table
    vectors = read(language.table.weight).astype(np.float64)
    if language.project is None:
        return JoinedInput(embeddings, positions, vectors, tags=tags, rectified=False)
    weight = read(language.project.weight).astype(np.float64)
    input_half, language_half = np.split(weight, 2, axis=1)  # C×C each
    bias = read(language.project.bias).astype(np.float64)
    embeddings, positions = embeddings @ input_half.T, positions @ input_half.T + bias
    embeddings[tags] = vectors @ input_half.T + bias
    positions[0] = 0  # its place is in the tags' rows
    return JoinedInput(embeddings, positions, vectors @ language_half.T, tags=tags, rectified=True)


def language_layer(
    joined: JoinedInput, encoder_dim: int, heads: int, epsilon: float
) -> tuple[TransformerDecoderLayerSpec, np.ndarray, np.ndarray]:
    """The layer, and the widened tables of embeddings (V×W) and positions (T×W). `epsilon`: of layer
    normalisations.
    """
    embed_dim, languages = joined.additions.shape[1], len(joined.tags)
    size = 1 << languages.bit_length()  # the least power of two above their number
    codes = hadamard(size)[1 : languages + 1].astype(np.float64)  # N×R
    further = ((0, 0), (0, MARK + size))
    embeddings, positions = np.pad(joined.embeddings, further), np.pad(joined.positions, further)
    width = embed_dim + MARK + size
    # As large as the content, so that rounding to 8 bits keeps both.
    c = np.abs(embeddings[joined.tags]).max() or 1.0
    embeddings[joined.tags, embed_dim:] = c * np.concatenate(
        [np.tile([1.0, -1.0], (languages, 1)), codes], axis=1
    )
    first = embeddings[joined.tags] + positions[0]  # N×W: the input of the first step
    deviations = np.sqrt(first.var(axis=1, keepdims=True) + epsilon)

    head_dim = -(-size // heads)
    spec = ctranslate2().specs.transformer_spec.TransformerDecoderLayerSpec(head_dim=head_dim)
    attention = spec.self_attention
    attention.layer_norm.gamma = np.concatenate([np.zeros(embed_dim), np.ones(MARK + size)]).astype(
        np.float32
    )
    attention.layer_norm.beta = np.zeros(width, np.float32)
    query, key, value = weight = np.zeros((3, heads * head_dim, width))
    bias = np.zeros((3, heads * head_dim))
    bias[0, ::head_dim] = CERTAIN * head_dim**0.5
    key[::head_dim, embed_dim : embed_dim + MARK] = 1, -1
    value[:size, embed_dim + MARK :] = np.eye(size)
    linear(attention.linear[0], weight.reshape(-1, width), bias.ravel())
    decode = np.zeros((width, heads * head_dim))
    decode[:embed_dim, :size] = (joined.additions * deviations).T @ codes / (c * size)
    linear(attention.linear[1], decode)

    idle_attention(spec.attention, [width, encoder_dim], width, heads=heads)
    spec.attention.head_dim = np.int32(1)
    del spec.ffn.layer_norm  # and with it the residual connection
    narrow = np.eye(embed_dim, width)
    if joined.rectified:
        linear(spec.ffn.linear_0, narrow)
        linear(spec.ffn.linear_1, np.eye(embed_dim))
    else:  # Any activation that is used, f, has f(x) − f(−x) = x.
        linear(spec.ffn.linear_0, np.concatenate([narrow, -narrow]))
        linear(spec.ffn.linear_1, np.concatenate([np.eye(embed_dim), -np.eye(embed_dim)], axis=1))
    return spec, embeddings, positions
