"""A trained model as a specification of CTranslate2's, exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from fairseq.models.transformer import TransformerModel
from fairseq.modules import SinusoidalPositionalEmbedding
from torch import nn

from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.language_layer import joined_input, language_layer
from zsnmt.inference.export.ctranslate2.layers import (
    Reader,
    adapter_layer,
    decoder_layer,
    encoder_layers,
    idle_decoder_layer,
    idle_encoder_layer,
    layer_norm,
)
from zsnmt.inference.export.ctranslate2.library import ctranslate2
from zsnmt.inference.export.ctranslate2.refusals import ACTIVATIONS, INSTEAD, check_exportable
from zsnmt.modules.decoder import Decoder
from zsnmt.modules.encoder import Encoder

if TYPE_CHECKING:
    from ctranslate2.specs.transformer_spec import (
        TransformerDecoderSpec,
        TransformerEncoderSpec,
        TransformerSpec,
    )


LONGEST = 1024  # tokens that CTranslate2 reads of a sentence, and Argos Translate with it, whatever the model
UNWRITTEN = -1e4  # the logit of what a language does not write; its probability is zero in any precision


def specification(model: TransformerModel, symbols: Sequence[str], tag: int | None = None) -> TransformerSpec:
    """The specification of a model in evaluation mode, with the symbols of its dictionary. Where languages
    have weights of their own: for that of a `tag`, or for those without.

    Raises `InputError` for a model that CTranslate2 cannot run exactly.
    """
    check_exportable(model)
    read = Reader(model)
    specs = ctranslate2().specs.transformer_spec
    spec = specs.TransformerSpec(encoder_spec(model, read), decoder_spec(model, read, tag))
    if read.unread:
        raise InputError(
            f"CTranslate2 has no place for the model's {next(iter(read.unread.values()))}; {INSTEAD}"
        )
    vocabulary = unique(symbols)
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.config.decoder_start_token = None  # each translation brings its own
    spec.config.layer_norm_epsilon = epsilon(model)
    return spec


def own_tags(model: TransformerModel, tags: Iterable[int]) -> list[int]:
    """Those of some languages' tags (ids) whose language has blocks or adapters of its own in the decoder, or
    came when the rest was frozen, and so writes what others do not.
    """
    decoder: Decoder = model.decoder
    of_languages = [*(layer.language_feed_forward for layer in decoder.layers), *(decoder.adapters or [])]
    own = {tag for each in of_languages if each is not None for tag in each.tags}
    first = decoder.vocabulary.sizes[0] if decoder.vocabulary else math.inf
    return sorted(tag for tag in tags if tag in own or tag >= first)


def unique(symbols: Sequence[str]) -> list[str]:
    """The symbols, with something appended to one that was there before."""
    found: dict[str, None] = {}
    for symbol in symbols:
        while symbol in found:
            symbol += "'"
        found[symbol] = None
    return [*found]


def epsilon(model: nn.Module) -> float:
    """What a model's layer normalisations add to the variance."""
    return next(module.eps for module in model.modules() if isinstance(module, nn.LayerNorm))


def encoder_spec(model: TransformerModel, read: Reader) -> TransformerEncoderSpec:
    """The encoder: its input and its layers."""
    encoder: Encoder = model.encoder
    layers = [*encoder.layers]
    embed_dim, heads = layers[0].embed_dim, layers[0].self_attn.num_heads
    spec = ctranslate2().specs.transformer_spec.TransformerEncoderSpec(
        0,
        heads,
        layers[0].normalize_before,
        encoder.layer_norm is None,
        activation(model),
        layernorm_embedding=encoder.layernorm_embedding is not None,
    )
    spec.embeddings[0].weight = read(encoder.embed_tokens.weight)
    spec.scale_embeddings = float(encoder.embed_scale)
    spec.position_encodings.encodings = position_table(encoder, embed_dim, read)
    set_norms(spec, encoder, read)
    spec.layer = [each for layer in layers for each in encoder_layers(layer, read)]
    if encoder.embed_positions is not None and has_relative_keys(spec):
        spec.layer.insert(0, idle_encoder_layer(embed_dim, heads))
    return spec


def decoder_spec(model: TransformerModel, read: Reader, tag: int | None) -> TransformerDecoderSpec:
    """The decoder: its input, with the language joined to it, its layers, with the blocks and adapters of a
    `tag`'s language, and its output, among what that language writes.
    """
    decoder: Decoder = model.decoder
    layers = [*decoder.layers]
    embed_dim, heads = layers[0].embed_dim, layers[0].self_attn.num_heads
    encoder_dim = model.encoder.embed_tokens.embedding_dim
    spec = ctranslate2().specs.transformer_spec.TransformerDecoderSpec(
        0,
        heads,
        layers[0].normalize_before,
        activation(model),
        decoder.layernorm_embedding is not None,
        no_final_norm=decoder.layer_norm is None,
    )
    spec.layer = [decoder_layer(layer, read, tag) for layer in layers]
    if decoder.adapters is not None:
        adapters = [adapter_layer(each, encoder_dim, heads, read=read, tag=tag) for each in decoder.adapters]
        spec.layer = [each for both in zip(spec.layer, adapters) for each in both if each is not None]
    embeddings, positions = read(decoder.embed_tokens.weight), position_table(decoder, embed_dim, read)
    spec.scale_embeddings = float(decoder.embed_scale)
    if decoder.language_embedding is not None:
        scaled = decoder.embed_scale * embeddings.astype(np.float64)
        joined = joined_input(decoder.language_embedding, scaled, positions.astype(np.float64), read=read)
        first, embeddings, positions = language_layer(joined, encoder_dim, heads, epsilon=epsilon(model))
        spec.layer.insert(0, first)
        spec.scale_embeddings = False
    elif decoder.embed_positions is not None and has_relative_keys(spec):
        spec.layer.insert(0, idle_decoder_layer(embed_dim, encoder_dim, heads))
    spec.embeddings.weight = embeddings.astype(np.float32)
    spec.position_encodings.encodings = positions.astype(np.float32)
    set_norms(spec, decoder, read)
    spec.projection.weight = read(decoder.output_projection.weight)
    if decoder.output_projection.bias is not None:
        spec.projection.bias = read(decoder.output_projection.bias)
    if decoder.vocabulary is not None:
        spec.projection.bias = np.zeros(decoder.vocabulary.sizes[-1], np.float32)
        spec.projection.bias[decoder.vocabulary.size_for(tag) :] = UNWRITTEN
    return spec


def has_relative_keys(spec: TransformerEncoderSpec | TransformerDecoderSpec) -> bool:
    """Whether the first layer has relative keys; CTranslate2 then takes no position encodings in the
    input.
    """
    return hasattr(spec.layer[0].self_attention, "relative_position_keys")


def set_norms(
    spec: TransformerEncoderSpec | TransformerDecoderSpec, stack: Encoder | Decoder, read: Reader
) -> None:
    """Set the layer normalisations before and after the layers, where there are."""
    for name in ("layernorm_embedding", "layer_norm"):
        if getattr(stack, name) is not None:
            layer_norm(getattr(spec, name), getattr(stack, name), read)


def position_table(stack: Encoder | Decoder, embed_dim: int, read: Reader) -> np.ndarray:
    """The vectors of all positions that a stack takes, and at least of LONGEST, T×C; zeros where its input
    has none, or CTranslate2 adds its own. Behind the end of what was learned the last one stands again.
    """
    length, table = max(stack.max_positions(), LONGEST), stack.embed_positions
    if table is None:
        return np.zeros((length, embed_dim), np.float32)
    begin = table.padding_idx + 1  # fairseq's first position
    if isinstance(table, SinusoidalPositionalEmbedding):
        return table.get_embedding(begin + length, embed_dim, table.padding_idx).numpy()[begin:]
    learned = read(table.weight)[begin : begin + length]
    return np.pad(learned, [(0, length - len(learned)), (0, 0)], mode="edge")


def activation(model: TransformerModel) -> int | None:
    """CTranslate2's name of the activation."""
    return getattr(ctranslate2().specs.common_spec.Activation, ACTIVATIONS[model.cfg.activation_fn])
