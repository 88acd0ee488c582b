"""fairseq's encoder layer with seams: both residuals, the attention's query, and a bias of its logits."""

import torch
from fairseq.models.transformer import TransformerConfig
from fairseq.modules.transformer_layer import TransformerEncoderLayerBase
from torch import Tensor, nn

from zsnmt.modules.attention_residual import KeepResidual, match_switch
from zsnmt.modules.self_attention import SelfAttention


class EncoderLayer(TransformerEncoderLayerBase):
    """With neutral seams, bit for bit fairseq's layer: same parameters, names and initial weights."""

    def __init__(self, cfg: TransformerConfig, return_fc: bool = False) -> None:
        super().__init__(cfg, return_fc)
        self.attention_residual: nn.Module = KeepResidual()
        self.feed_forward_residual: nn.Module = KeepResidual()
        self.position_query: nn.Module | None = None
        self.has_position_bias = True  # where the encoder makes one
        self.is_told = False  # the target language, where the encoder knows it

    def build_self_attention(self, embed_dim: int, cfg: TransformerConfig) -> SelfAttention:
        """fairseq's self-attention, with seams."""
        return SelfAttention(
            embed_dim,
            cfg.encoder.attention_heads,
            dropout=cfg.attention_dropout,
            self_attention=True,
            q_noise=self.quant_noise,
            qn_block_size=self.quant_noise_block_size,
            xformers_att_config=cfg.encoder.xformers_att_config,
        )

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """What fairseq does to a checkpoint before it is loaded: read those that know of other seams."""
        super().upgrade_state_dict_named(state_dict, name)
        match_switch(self.attention_residual, state_dict, name)

    def use_position_query(self, position_query: nn.Module) -> None:
        """Make the attention's query from positions."""
        self.position_query = position_query
        # A self-attention projects keys and values from the query on fairseq's slow path.
        self.self_attn.self_attention = False

    def forward(
        self,
        x: Tensor,
        encoder_padding_mask: Tensor | None,
        attn_mask: Tensor | None = None,
        position_bias: Tensor | None = None,
    ) -> Tensor:
        """x: T×B×C; encoder_padding_mask: B×T, True at padding; attn_mask: T×T, True where attention is
        forbidden; position_bias: B×H×T×T or 1×H×T×T, added to the logits, -inf at padding. Returns T×B×C,
        with `return_fc` also the feed-forward block's own result, T×B×C.

        A restatement of the stock method, whose hook `residual_connection` cannot tell the attention from the
        feed-forward block.
        """
        if attn_mask is not None:
            attn_mask = attn_mask.masked_fill(attn_mask.bool(), -1e8 if x.dtype == torch.float32 else -1e4)
        layer_input = x
        if self.normalize_before:
            x = self.self_attn_layer_norm(x)
        query = x if self.position_query is None else self.position_query(x, encoder_padding_mask)
        x, _ = self.self_attn(
            query=query,
            key=x,
            value=x,
            key_padding_mask=encoder_padding_mask if position_bias is None else None,
            need_weights=False,
            attn_mask=attn_mask,
            position_bias=position_bias,
        )
        x = self.attention_residual(self.dropout_module(x), layer_input, encoder_padding_mask)
        if not self.normalize_before:
            x = self.self_attn_layer_norm(x)

        residual = x
        if self.normalize_before:
            x = self.final_layer_norm(x)
        x = self.activation_dropout_module(self.activation_fn(self.fc1(x)))
        fc_result = self.fc2(x)
        x = self.feed_forward_residual(self.dropout_module(fc_result), residual, encoder_padding_mask)
        if not self.normalize_before:
            x = self.final_layer_norm(x)
        return (x, fc_result) if self.return_fc else x
