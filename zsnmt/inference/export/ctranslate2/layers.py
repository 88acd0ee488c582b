"""fairseq's layers as those of CTranslate2.

CTranslate2 adds a sub-layer's input to its output exactly where the sub-layer has a layer normalisation. So a
sub-layer with one and with weights of zero changes nothing, and one without it has no residual connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from fairseq.modules import MultiheadAttention
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase, TransformerEncoderLayerBase
from torch import Tensor, nn

from zsnmt.inference.export.ctranslate2.library import ctranslate2
from zsnmt.modules.attention_residual import RemoveResidual
from zsnmt.modules.language_adapter import LanguageAdapters
from zsnmt.modules.language_feed_forward import LanguageFeedForward

if TYPE_CHECKING:
    from ctranslate2.specs.attention_spec import MultiHeadAttentionSpec
    from ctranslate2.specs.common_spec import LayerNormSpec, LinearSpec
    from ctranslate2.specs.transformer_spec import (
        FeedForwardSpec,
        TransformerDecoderLayerSpec,
        TransformerEncoderLayerSpec,
    )

DROWNING = 2.0**30  # beside so many times something else, a residual is below the last bit


class Reader:
    """Reads a model's parameters as arrays of their own, and knows which were not read."""

    def __init__(self, model: nn.Module) -> None:
        self.unread = {id(parameter): name for name, parameter in model.named_parameters()}

    def __call__(self, weight: Tensor) -> np.ndarray:
        self.unread.pop(id(weight), None)
        return np.array(weight.detach().cpu().numpy(), dtype=np.float32)


def encoder_layers(layer: TransformerEncoderLayerBase, read: Reader) -> list[TransformerEncoderLayerSpec]:
    """The layers that stand for one of the encoder.

    A layer whose self-attention has no residual becomes two. The first normalises: what it puts out is the
    normalised input, so enlarged (by a power of two, exactly) that the input drowns beside it. The second has
    an attention without normalisation, hence without residual, whose weights undo the factor. Whatever
    follows is at its own scale again.
    """
    spec = ctranslate2().specs.transformer_spec.TransformerEncoderLayerSpec()
    spec.self_attention = self_attention(layer.self_attn, layer.self_attn_layer_norm, read)
    feed_forward(spec.ffn, layer, read)
    if not isinstance(layer.attention_residual, RemoveResidual):
        return [spec]
    normalise = idle_encoder_layer(layer.embed_dim, layer.self_attn.num_heads)
    normalise.ffn.layer_norm = spec.self_attention.layer_norm
    twins = np.concatenate([np.eye(layer.embed_dim), -np.eye(layer.embed_dim)])
    # Any activation that is used, f, has f(x) − f(−x) = x.
    linear(normalise.ffn.linear_0, twins)
    linear(normalise.ffn.linear_1, DROWNING * twins.T)
    del spec.self_attention.layer_norm
    spec.self_attention.linear[0].weight /= DROWNING
    return [normalise, spec]


def decoder_layer(
    layer: TransformerDecoderLayerBase, read: Reader, tag: int | None
) -> TransformerDecoderLayerSpec:
    """A layer of the decoder, with the block of a `tag`'s language, if it has one."""
    spec = ctranslate2().specs.transformer_spec.TransformerDecoderLayerSpec()
    spec.self_attention = self_attention(layer.self_attn, layer.self_attn_layer_norm, read)
    cross_attention(spec.attention, layer.encoder_attn, read)
    layer_norm(spec.attention.layer_norm, layer.encoder_attn_layer_norm, read)
    feed_forward(spec.ffn, layer, read)
    if layer.language_feed_forward is not None:
        add_block(spec.ffn, layer.language_feed_forward, read, tag=tag)
    return spec


def self_attention(attention: MultiheadAttention, norm: nn.LayerNorm, read: Reader) -> MultiHeadAttentionSpec:
    """A self-attention, with relative keys and values where it has them."""
    library = ctranslate2()
    relative = len(attention.logit_terms) > 0
    spec = library.specs.attention_spec.MultiHeadAttentionSpec(
        self_attention=True, relative_position=relative
    )
    layer_norm(spec.layer_norm, norm, read)
    projections = [attention.q_proj, attention.k_proj, attention.v_proj]
    weight, bias = (
        np.concatenate([read(getattr(each, name)) for each in projections]) for name in ("weight", "bias")
    )
    linear(spec.linear[0], weight, bias)
    linear(spec.linear[1], read(attention.out_proj.weight), read(attention.out_proj.bias))
    if relative:
        spec.relative_position_keys = read(attention.logit_terms[0].table.weight)
        spec.relative_position_values = library.specs.model_spec.OPTIONAL
        if attention.relative_values is not None:
            spec.relative_position_values = read(attention.relative_values.table.weight)
    return spec


def cross_attention(spec: MultiHeadAttentionSpec, attention: MultiheadAttention, read: Reader) -> None:
    """Set the projections of an attention to the encoder's output."""
    linear(spec.linear[0], read(attention.q_proj.weight), read(attention.q_proj.bias))
    weight, bias = (
        np.concatenate([read(getattr(each, name)) for each in (attention.k_proj, attention.v_proj)])
        for name in ("weight", "bias")
    )
    linear(spec.linear[1], weight, bias)
    linear(spec.linear[2], read(attention.out_proj.weight), read(attention.out_proj.bias))


def feed_forward(spec: FeedForwardSpec, layer: nn.Module, read: Reader) -> None:
    """Set the feed-forward block of a layer."""
    layer_norm(spec.layer_norm, layer.final_layer_norm, read)
    linear(spec.linear_0, read(layer.fc1.weight), read(layer.fc1.bias))
    linear(spec.linear_1, read(layer.fc2.weight), read(layer.fc2.bias))


def add_block(spec: FeedForwardSpec, blocks: LanguageFeedForward, read: Reader, *, tag: int | None) -> None:
    """Add the block of a `tag`'s language to a feed-forward block of ReLUs, as further hidden units; those of
    other languages are for other models.
    """
    parts = {
        of: (weight, *map(read, (widen.weight, widen.bias, narrow.weight, narrow.bias)))
        for of, weight, widen, narrow in zip(blocks.tags, read(blocks.weights), blocks.widen, blocks.narrow)
    }
    if tag not in parts:
        return
    weight, widen, widen_bias, narrow, narrow_bias = parts[tag]
    inner, outer = spec.linear_0, spec.linear_1
    linear(inner, np.concatenate([inner.weight, widen]), np.concatenate([inner.bias, widen_bias]))
    linear(outer, np.concatenate([outer.weight, weight * narrow], axis=1), outer.bias + weight * narrow_bias)


def adapter_layer(
    adapters: LanguageAdapters, encoder_dim: int, heads: int, *, read: Reader, tag: int | None
) -> TransformerDecoderLayerSpec | None:
    """What stands for the adapter of a `tag`'s language behind a layer of ReLUs: one whose attentions change
    nothing. None for a language without adapter; those of other languages are for other models.
    """
    made = None
    for of, adapter in zip(adapters.tags, adapters.adapters):
        spec = idle_decoder_layer(adapter.down.in_features, encoder_dim, heads=heads)
        layer_norm(spec.ffn.layer_norm, adapter.norm, read)
        linear(spec.ffn.linear_0, read(adapter.down.weight), read(adapter.down.bias))
        linear(spec.ffn.linear_1, read(adapter.up.weight), read(adapter.up.bias))
        made = spec if of == tag else made
    return made


def layer_norm(spec: LayerNormSpec, norm: nn.LayerNorm, read: Reader) -> None:
    """Set a layer normalisation."""
    spec.gamma, spec.beta = read(norm.weight), read(norm.bias)


def linear(spec: LinearSpec, weight: np.ndarray, bias: np.ndarray | None = None) -> None:
    """Set a projection from its weight, outputs × inputs, and bias, zero if none is given."""
    spec.weight = np.ascontiguousarray(weight, dtype=np.float32)
    spec.bias = np.zeros(len(weight), np.float32) if bias is None else np.asarray(bias, dtype=np.float32)


def idle_encoder_layer(embed_dim: int, heads: int) -> TransformerEncoderLayerSpec:
    """A layer that changes nothing."""
    spec = ctranslate2().specs.transformer_spec.TransformerEncoderLayerSpec(head_dim=1)
    idle_attention(spec.self_attention, [embed_dim], embed_dim, heads=heads)
    idle_feed_forward(spec.ffn, embed_dim)
    return spec


def idle_decoder_layer(embed_dim: int, encoder_dim: int, heads: int) -> TransformerDecoderLayerSpec:
    """A layer that changes nothing."""
    spec = ctranslate2().specs.transformer_spec.TransformerDecoderLayerSpec(head_dim=1)
    idle_attention(spec.self_attention, [embed_dim], embed_dim, heads=heads)
    idle_attention(spec.attention, [embed_dim, encoder_dim], embed_dim, heads=heads)
    idle_feed_forward(spec.ffn, embed_dim)
    return spec


def idle_attention(spec: MultiHeadAttentionSpec, inputs: Sequence[int], embed_dim: int, heads: int) -> None:
    """Weights of zero for an attention whose heads have one dimension; `inputs`: the dimensions of what is
    projected.
    """
    # Query, keys and values together, or the query apart.
    one_dimension_each = {1: [3], 2: [1, 2]}[len(inputs)]
    for each, projections, input_dim in zip(spec.linear, one_dimension_each, inputs):
        linear(each, np.zeros((projections * heads, input_dim)))
    linear(spec.linear[-1], np.zeros((embed_dim, heads)))
    neutral_norm(spec.layer_norm, embed_dim)


def idle_feed_forward(spec: FeedForwardSpec, embed_dim: int) -> None:
    """Weights of zero for a block of one hidden unit."""
    linear(spec.linear_0, np.zeros((1, embed_dim)))
    linear(spec.linear_1, np.zeros((embed_dim, 1)))
    neutral_norm(spec.layer_norm, embed_dim)


def neutral_norm(spec: LayerNormSpec, embed_dim: int) -> None:
    """A layer normalisation that only normalises."""
    spec.gamma, spec.beta = np.ones(embed_dim, np.float32), np.zeros(embed_dim, np.float32)
