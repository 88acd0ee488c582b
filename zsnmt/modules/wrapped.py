"""What fairseq wraps around a layer: activations that are computed again backwards, and parameters in
shards.
"""

from fairseq.distributed import fsdp_wrap
from fairseq.models.transformer import TransformerConfig
from fairseq.modules.checkpoint_activations import checkpoint_wrapper
from torch import nn


def wrap_layer(layer: nn.Module, cfg: TransformerConfig) -> nn.Module:
    """The layer as fairseq's encoder and decoder wrap theirs, by the same options."""
    if cfg.checkpoint_activations:
        return fsdp_wrap(checkpoint_wrapper(layer, offload_to_cpu=cfg.offload_activations), min_num_params=0)
    return fsdp_wrap(layer, min_num_params=cfg.min_params_to_wrap)
