"""The encoder, packed: fused projections, weights of a chosen precision, every seam as the model has it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zsnmt.decoding.packed.linear import pack
from zsnmt.modules.attention_residual import KeepResidual
from zsnmt.modules.decoder_layer import DecoderLayer
from zsnmt.modules.encoder import Encoder
from zsnmt.modules.encoder_layer import EncoderLayer
from zsnmt.modules.onednn_linear import OneDnnReluLinear
from zsnmt.modules.self_attention import SelfAttention

KEEP = KeepResidual()


class PackedEncoder:
    """What a trained encoder makes of a batch: the same states, up to rounding of the precision."""

    def __init__(self, encoder: Encoder, precision: str) -> None:
        self.encoder = encoder
        self.layers = [PackedEncoderLayer(layer, precision) for layer in encoder.layers.children()]

    def __call__(self, src_tokens: Tensor) -> tuple[Tensor, Tensor | None]:
        """From tokens (B×S, padded on either side) to states (S×B×C) and the padding (B×S, True there;
        None without any).
        """
        src_tokens, told = self.encoder.tell(src_tokens)
        padding_mask = src_tokens.eq(self.encoder.padding_idx)
        padding_mask = padding_mask if padding_mask.any() else None
        x, embedded = self.encoder.forward_embedding(src_tokens)
        bias = self.encoder.bias_of(src_tokens, padding_mask, x, embedded=embedded)
        x = x.transpose(0, 1).contiguous()  # S×B×C
        for layer in self.layers:
            x = x if told is None or not layer.layer.is_told else x + told
            x = layer(x, padding_mask, bias if layer.layer.has_position_bias else None)
        return (x if self.encoder.layer_norm is None else self.encoder.layer_norm(x)), padding_mask


class PackedEncoderLayer:
    """A layer in the model's own order of norms; attention that a seam changes is the model's own."""

    def __init__(self, layer: EncoderLayer, precision: str) -> None:
        self.layer = layer
        self.attention = None
        if layer.position_query is None and is_plain(layer.self_attn):
            self.attention = PackedSelfAttention(layer.self_attn, precision)
        self.feed_forward = PackedFeedForward(layer, precision)

    def __call__(self, x: Tensor, padding_mask: Tensor | None, position_bias: Tensor | None) -> Tensor:
        """x: S×B×C; padding_mask: B×S, True at padding; position_bias: broadcasts to B×H×S×S, -inf at
        padding. Returns S×B×C.
        """
        layer, layer_input = self.layer, x
        if layer.normalize_before:
            x = layer.self_attn_layer_norm(x)
        if self.attention is not None and position_bias is None:
            attended = self.attention(x, padding_mask)
        else:
            query = x if layer.position_query is None else layer.position_query(x, padding_mask)
            mask = padding_mask if position_bias is None else None
            attended, _ = layer.self_attn(
                query, x, x, key_padding_mask=mask, need_weights=False, position_bias=position_bias
            )
        x = layer.attention_residual(attended, layer_input, padding_mask)
        if not layer.normalize_before:
            x = layer.self_attn_layer_norm(x)
        return self.feed_forward(x, layer.feed_forward_residual)


class PackedSelfAttention:
    """Attention of all positions to all, from one projection to queries, keys and values."""

    def __init__(self, attention: SelfAttention, precision: str) -> None:
        self.heads = attention.num_heads
        self.project = pack(
            *fuse_projections(attention.q_proj, attention.k_proj, attention.v_proj), precision
        )
        self.output = pack(attention.out_proj.weight, attention.out_proj.bias, precision)

    def __call__(self, x: Tensor, padding_mask: Tensor | None) -> Tensor:
        """x: S×B×C; padding_mask: B×S, True at padding. Returns S×B×C."""
        q, k, v = self.project(x).unflatten(-1, (3, self.heads, -1)).permute(2, 1, 3, 0, 4)  # B×H×S×d each
        mask = None if padding_mask is None else ~padding_mask[:, None, None]
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.output(attended.permute(2, 0, 1, 3).flatten(2))


class PackedFeedForward:
    """The feed-forward block of a layer of either stack, with its residual connection and norm."""

    def __init__(self, layer: EncoderLayer | DecoderLayer, precision: str) -> None:
        self.norm, self.first = layer.final_layer_norm, layer.normalize_before
        relu = layer.activation_fn is F.relu or isinstance(layer.fc1, OneDnnReluLinear)
        self.widen = pack(layer.fc1.weight, layer.fc1.bias, precision, relu=relu)
        self.activate = (lambda x: x) if relu else layer.activation_fn
        self.narrow = pack(layer.fc2.weight, layer.fc2.bias, precision)

    def __call__(
        self, x: Tensor, residual: nn.Module = KEEP, add: Callable[[Tensor, Tensor], Tensor] | None = None
    ) -> Tensor:
        """From …×C to …×C, with the layer's residual connection, which needs no padding, and after a function
        that may `add` to what the block makes (first argument) of its input (second).
        """
        y = self.norm(x) if self.first else x
        made = self.narrow(self.activate(self.widen(y)))
        x = residual(made if add is None else add(made, y), x, None)
        return x if self.first else self.norm(x)


def fuse_projections(*projections: torch.nn.Linear, scale: float = 1.0) -> tuple[Tensor, Tensor | None]:
    """Weight (ΣD×C) and bias (ΣD, or None) of projections of the same input as one, those of the first, the
    queries', scaled.
    """
    scales = [scale, *[1.0] * (len(projections) - 1)]

    def joined(parts: list[Tensor]) -> Tensor:
        return torch.cat([part.detach() * by for part, by in zip(parts, scales)])

    weights, biases = ([getattr(each, name) for each in projections] for name in ("weight", "bias"))
    return joined(weights), None if biases[0] is None else joined(biases)


def is_plain(attention: SelfAttention) -> bool:
    """Whether no seam of a self-attention is filled."""
    return not attention.logit_terms and attention.relative_values is None
