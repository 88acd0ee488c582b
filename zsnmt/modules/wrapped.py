"""What fairseq wraps around a layer: activations that are computed again backwards."""

from fairseq.models.transformer import TransformerConfig
from fairseq.modules.checkpoint_activations import checkpoint_wrapper
from torch import nn


def wrap_layer(layer: nn.Module, cfg: TransformerConfig) -> nn.Module:
    """The layer as fairseq's encoder and decoder wrap theirs, by the same options, but for parameters in
    shards, which these models refuse.
    """
    if not cfg.checkpoint_activations:
        return layer
    return checkpoint_wrapper(layer, offload_to_cpu=cfg.offload_activations)
