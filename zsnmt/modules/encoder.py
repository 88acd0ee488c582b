"""fairseq's encoder with a seam, the position bias, built from layers with seams."""

import torch
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig, TransformerEncoderBase
from torch import Tensor, nn
from torch.nn import functional as F

from zsnmt.modules.encoder_layer import EncoderLayer
from zsnmt.modules.position_terms import shares
from zsnmt.modules.wrapped import wrap_layer


class Encoder(TransformerEncoderBase):
    """With neutral seams, bit for bit fairseq's encoder.

    `position_bias`: a module that makes a bias of the attention's logits (B×H×T×T or 1×H×T×T) from the
    padding mask and the length, once for all layers. `position_terms`: one that makes it for the first layer,
    from what words and positions have contributed to its input. `target_language`: one that hides the tag of
    the target, whose embedding is added to the input of the layers that are told.
    """

    def __init__(
        self,
        cfg: TransformerConfig,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
        return_fc: bool = False,
    ) -> None:
        super().__init__(cfg, dictionary, embed_tokens, return_fc)
        self.position_bias: nn.Module | None = None
        self.position_terms: nn.Module | None = None
        self.target_language: nn.Module | None = None

    def build_encoder_layer(self, cfg: TransformerConfig) -> nn.Module:
        """A layer with seams, wrapped as fairseq wraps its own."""
        return wrap_layer(EncoderLayer(cfg, return_fc=self.return_fc), cfg)

    def forward_scriptable(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor | None = None,
        return_all_hiddens: bool = False,
        token_embeddings: Tensor | None = None,
    ) -> dict:
        """A restatement of the stock method around `position_bias`: src_tokens B×T, token_embeddings B×T×C,
        states T×B×C, padding mask B×T, True at padding.
        """
        src_tokens, told = self.tell(src_tokens)
        is_padding = src_tokens.eq(self.padding_idx)
        padding_mask = is_padding if is_padding.any() else None
        x, embedded = self.forward_embedding(src_tokens, token_embeddings)
        if padding_mask is not None:
            x = x.masked_fill(padding_mask.unsqueeze(-1), 0.0)
        position_bias = self.bias_of(src_tokens, padding_mask, x, embedded=embedded)
        x = x.transpose(0, 1)  # T×B×C

        states, fc_results = [x] * return_all_hiddens, []
        for layer in self.layers:
            bias = position_bias if layer.has_position_bias else None
            x = x if told is None or not layer.is_told else x + told
            x = layer(x, encoder_padding_mask=padding_mask, position_bias=bias)
            x, fc_result = x if self.return_fc else (x, None)
            if return_all_hiddens:
                states.append(x)
                fc_results.append(fc_result)
        if self.layer_norm is not None:
            x = self.layer_norm(x)
        return {
            "encoder_out": [x],
            "encoder_padding_mask": [is_padding],
            "encoder_embedding": [embedded],  # B×T×C
            "encoder_states": states,
            "fc_results": fc_results,
            "src_tokens": [],
            "src_lengths": [(~is_padding).sum(dim=1, dtype=torch.int32).reshape(-1, 1).contiguous()],
        }

    def tell(self, src_tokens: Tensor) -> tuple[Tensor, Tensor | None]:
        """What the layers read of sources (B×T), and what is added to the input of those that are told
        (1×B×C), or None.
        """
        if self.target_language is None:
            return src_tokens, None
        src_tokens, tags = self.target_language(src_tokens)
        # Whole: word dropout would now and then leave out a language.
        embedded = self.embed_scale * F.embedding(tags, self.embed_tokens.weight)  # B×1×C
        return src_tokens, self.dropout_module(embedded).transpose(0, 1)

    def bias_of(
        self, src_tokens: Tensor, padding_mask: Tensor | None, x: Tensor, embedded: Tensor
    ) -> Tensor | None:
        """The bias of the seams, or None: from tokens and padding (B×T, True there), the layers' input and
        its words (B×T×C) to B×H×T×T or 1×H×T×T, -inf at padding.
        """
        if self.position_bias is not None:
            bias = self.position_bias(padding_mask, src_tokens.size(1)).type_as(x)
        elif self.position_terms is not None:
            positions = self.embed_positions(src_tokens)
            dropout = self.dropout_module.p if self.training else 0.0
            parts = shares(x, embedded, positions, layer_norm=self.layernorm_embedding, dropout=dropout)
            bias = self.position_terms(*parts, self.layers[0].self_attn)
        else:
            return None
        return bias if padding_mask is None else bias.masked_fill(padding_mask[:, None, None], -torch.inf)
