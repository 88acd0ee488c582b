"""fairseq's encoder, built from layers with seams."""

from fairseq.distributed import fsdp_wrap
from fairseq.models.transformer import TransformerEncoderBase
from fairseq.modules.checkpoint_activations import checkpoint_wrapper
from torch import nn

from zsnmt.modules.encoder_layer import EncoderLayer


class Encoder(TransformerEncoderBase):
    """With neutral seams, bit for bit fairseq's encoder."""

    def build_encoder_layer(self, cfg) -> nn.Module:
        layer = EncoderLayer(cfg, return_fc=self.return_fc)
        if cfg.checkpoint_activations:
            return fsdp_wrap(checkpoint_wrapper(layer, offload_to_cpu=cfg.offload_activations), min_num_params=0)
        return fsdp_wrap(layer, min_num_params=cfg.min_params_to_wrap)
