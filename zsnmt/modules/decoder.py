"""fairseq's decoder with seams: its embedded input, what follows each layer, and what a language writes."""

from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig, TransformerDecoderBase
from torch import Tensor, nn

from zsnmt.modules.decoder_layer import DecoderLayer
from zsnmt.modules.growing_vocabulary import GrowingVocabulary
from zsnmt.modules.wrapped import wrap_layer


class Decoder(TransformerDecoderBase):
    """With neutral seams, bit for bit fairseq's decoder."""

    def __init__(
        self,
        cfg: TransformerConfig,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
        no_encoder_attn: bool = False,
        output_projection: nn.Module | None = None,
    ) -> None:
        super().__init__(cfg, dictionary, embed_tokens, no_encoder_attn, output_projection)
        self.language_embedding: nn.Module | None = None
        self.adapters: nn.ModuleList | None = None  # one for each layer
        self.vocabulary: GrowingVocabulary | None = None

    def build_decoder_layer(self, cfg: TransformerConfig, no_encoder_attn: bool = False) -> nn.Module:
        """A layer with seams, wrapped as fairseq wraps its own."""
        return wrap_layer(DecoderLayer(cfg, no_encoder_attn), cfg)

    def forward(
        self,
        prev_output_tokens: Tensor,
        encoder_out: dict | None = None,
        incremental_state: dict | None = None,
        features_only: bool = False,
        **options: Any,
    ) -> tuple[Tensor, dict]:
        """The stock method, from prefixes (B×T); in a vocabulary that grew, logits (B×T×V) are -inf where the
        language cannot write.
        """
        if self.vocabulary is None or features_only:
            return super().forward(
                prev_output_tokens, encoder_out, incremental_state, features_only, **options
            )
        x, extra = super().forward(
            prev_output_tokens, encoder_out, incremental_state, features_only=True, **options
        )
        logits = self.vocabulary(x, prev_output_tokens, self.output_projection.weight)
        return logits, {**extra, "in_steps": incremental_state is not None}

    def get_normalized_probs(self, net_output: tuple, log_probs: bool, sample: dict | None = None) -> Tensor:
        """The stock method, from logits to (log-)probabilities (B×T×V); in a vocabulary that grew, normalised
        over what each language can write.

        Beyond, a loss finds the mean of the log-probabilities, a search (and whoever has logits alone) -inf.
        """
        if self.vocabulary is None:
            return super().get_normalized_probs(net_output, log_probs, sample)
        logits, *extra = net_output
        in_steps = (extra and extra[0] or {}).get("in_steps", True)
        return self.vocabulary.normalize(logits, log_probs, mean_beyond=not in_steps)

    def embed(self, prev_output_tokens: Tensor, incremental_state: dict | None) -> Tensor:
        """From the prefix (B×T) to the layers' input (B×T×C; B×1×C for an incremental step)."""
        positions = None
        if self.embed_positions is not None:
            positions = self.embed_positions(prev_output_tokens, incremental_state=incremental_state)
        inputs = prev_output_tokens
        if incremental_state is not None:
            inputs = prev_output_tokens[:, -1:]
            positions = None if positions is None else positions[:, -1:]
        x = self.embed_scale * self.embed_tokens(inputs.contiguous())
        if self.quant_noise is not None:
            x = self.quant_noise(x)
        if self.project_in_dim is not None:
            x = self.project_in_dim(x)
        if positions is not None:
            x = x + positions
        if self.language_embedding is not None:
            x = self.language_embedding(x, prev_output_tokens)
        if self.layernorm_embedding is not None:
            x = self.layernorm_embedding(x)
        return self.dropout_module(x)

    def extract_features_scriptable(
        self,
        prev_output_tokens: Tensor,
        encoder_out: dict | None,
        incremental_state: dict | None = None,
        full_context_alignment: bool = False,
        alignment_layer: int | None = None,
        alignment_heads: int | None = None,
    ) -> tuple[Tensor, dict]:
        """A restatement of the stock method around `embed`: prev_output_tokens B×T, result B×T×C."""
        encoded = (encoder_out or {}).get("encoder_out") or [None]
        padding_mask = (encoder_out or {}).get("encoder_padding_mask") or [None]
        alignment_layer = self.num_layers - 1 if alignment_layer is None else alignment_layer

        x = self.embed(prev_output_tokens, incremental_state).transpose(0, 1)  # T×B×C
        is_padding = (prev_output_tokens if incremental_state is None else prev_output_tokens[:, -1:]).eq(
            self.padding_idx
        )
        self_attn_padding_mask = is_padding if self.cross_self_attention or is_padding.any() else None
        causal = incremental_state is None and not full_context_alignment

        attention, inner_states = None, [x]
        for index, layer in enumerate(self.layers):
            x, layer_attention, _ = layer(
                x,
                encoded[0],
                padding_mask[0],
                incremental_state,
                self_attn_mask=self.buffered_future_mask(x) if causal else None,
                self_attn_padding_mask=self_attn_padding_mask,
                need_attn=index == alignment_layer,
                need_head_weights=index == alignment_layer,
                languages=prev_output_tokens[:, 0],
            )
            if self.adapters is not None:
                x = self.adapters[index](x, prev_output_tokens)
            inner_states.append(x)
            if layer_attention is not None and index == alignment_layer:
                attention = layer_attention.float().to(x)
        if attention is not None:
            attention = attention[:alignment_heads].mean(dim=0)

        if self.layer_norm is not None:
            x = self.layer_norm(x)
        # A copy, since by the strides of the transposed PyTorch would multiply a step's rows with frozen
        # weights one by one.
        x = x.transpose(0, 1).clone(memory_format=torch.contiguous_format)  # B×T×C
        if self.project_out_dim is not None:
            x = self.project_out_dim(x)
        return x, {"attn": [attention], "inner_states": inner_states}
