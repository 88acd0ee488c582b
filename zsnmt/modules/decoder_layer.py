"""fairseq's decoder layer with seams: its attention, and languages' blocks beside its feed-forward block."""

from typing import Any

from fairseq.models.transformer import TransformerConfig
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase
from torch import Tensor, nn

from zsnmt.modules.self_attention import SelfAttention


class DecoderLayer(TransformerDecoderLayerBase):
    """With neutral seams, bit for bit fairseq's layer: same parameters, names and initial weights."""

    def __init__(self, cfg: TransformerConfig, no_encoder_attn: bool = False) -> None:
        super().__init__(cfg, no_encoder_attn)
        self.language_feed_forward: nn.Module | None = None
        self.languages_of_blocks: list[Tensor | None] = []  # for those of a pass that are still to come

    def forward(
        self,
        x: Tensor,
        encoder_out: Tensor | None = None,
        *arguments: Any,
        languages: Tensor | None = None,
        **options: Any,
    ) -> tuple[Tensor, Tensor | None, list | None]:
        """The stock method, from x (T×B×C) and encoder_out (S×B×C) to T×B×C; `languages`: tags (B) of the
        rows of x.
        """
        attentions = 1 if self.encoder_attn is None or encoder_out is None else 2
        self.languages_of_blocks = [*[None] * attentions, languages]
        return super().forward(x, encoder_out, *arguments, **options)

    def residual_connection(self, x: Tensor, residual: Tensor) -> Tensor:
        """The stock method, from two of T×B×C to T×B×C, which fairseq calls after each block in turn; in the
        last the languages' are added.
        """
        languages = self.languages_of_blocks.pop(0)
        if self.language_feed_forward is not None and languages is not None:
            read = self.final_layer_norm(residual) if self.normalize_before else residual
            x = x + self.language_feed_forward(read, languages)
        return super().residual_connection(x, residual)

    def build_self_attention(
        self, embed_dim: int, cfg: TransformerConfig, add_bias_kv: bool = False, add_zero_attn: bool = False
    ) -> SelfAttention:
        """fairseq's self-attention, with seams."""
        return SelfAttention(
            embed_dim,
            cfg.decoder.attention_heads,
            dropout=cfg.attention_dropout,
            add_bias_kv=add_bias_kv,
            add_zero_attn=add_zero_attn,
            self_attention=not cfg.cross_self_attention,
            q_noise=self.quant_noise,
            qn_block_size=self.quant_noise_block_size,
            xformers_att_config=cfg.decoder.xformers_att_config,
        )

    def build_encoder_attention(self, embed_dim: int, cfg: TransformerConfig) -> SelfAttention:
        """fairseq's attention to the encoder, with seams."""
        return SelfAttention(
            embed_dim,
            cfg.decoder.attention_heads,
            kdim=cfg.encoder.embed_dim,
            vdim=cfg.encoder.embed_dim,
            dropout=cfg.attention_dropout,
            encoder_decoder_attention=True,
            q_noise=self.quant_noise,
            qn_block_size=self.quant_noise_block_size,
            xformers_att_config=cfg.encoder.xformers_att_config,
        )
