"""fairseq's encoder with a seam, the position bias, built from layers with seams."""

from typing import Optional

import torch
from fairseq.models.transformer import TransformerEncoderBase
from torch import Tensor, nn

from zsnmt.modules.encoder_layer import EncoderLayer
from zsnmt.modules.wrapped import wrapped


class Encoder(TransformerEncoderBase):
    """With neutral seams, bit for bit fairseq's encoder.

    `position_bias`: a module that makes a bias of the attention's logits (B×H×T×T or 1×H×T×T) from the padding mask and
    the length, once for all layers.
    """

    def __init__(self, cfg, dictionary, embed_tokens, return_fc=False) -> None:
        super().__init__(cfg, dictionary, embed_tokens, return_fc)
        self.position_bias: Optional[nn.Module] = None

    def build_encoder_layer(self, cfg) -> nn.Module:
        return wrapped(EncoderLayer(cfg, return_fc=self.return_fc), cfg)

    def forward_scriptable(
        self,
        src_tokens: Tensor,
        src_lengths: Optional[Tensor] = None,
        return_all_hiddens: bool = False,
        token_embeddings: Optional[Tensor] = None,
    ) -> dict:
        """A restatement of the stock method around `position_bias`: src_tokens B×T, states T×B×C."""
        is_padding = src_tokens.eq(self.padding_idx)
        padding_mask = is_padding if is_padding.any() else None
        x, embedded = self.forward_embedding(src_tokens, token_embeddings)
        if padding_mask is not None:
            x = x.masked_fill(padding_mask.unsqueeze(-1), 0.0)
        x = x.transpose(0, 1)  # T×B×C
        position_bias = None
        if self.position_bias is not None:
            position_bias = self.position_bias(padding_mask, src_tokens.size(1)).type_as(x)
            if padding_mask is not None:
                position_bias = position_bias.masked_fill(padding_mask[:, None, None], -torch.inf)

        states, fc_results = [x] * return_all_hiddens, []
        for layer in self.layers:
            bias = position_bias if layer.has_position_bias else None
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
