"""The seams that make training on a CPU cheaper."""

from argparse import Namespace

from fairseq.modules.fairseq_dropout import FairseqDropout
from torch import nn

from zsnmt.errors import InputError
from zsnmt.modules.cheap_dropout import CheapDropout
from zsnmt.modules.onednn_linear import OneDnnLinear
from zsnmt.modules.self_attention import SelfAttention


def train_fast(model: nn.Module, args: Namespace) -> None:
    """Let a model train, on a CPU, by cheap masks of dropout, products of oneDNN, and attention without
    fairseq's detours.
    """
    if args.quant_noise_pq:
        raise InputError(
            "--quant-noise-pq does not go with --fast-training, which takes linear layers' place; leave one "
            "of them out"
        )
    for module in [*model.modules()]:
        if isinstance(module, SelfAttention):
            module.fast_training = True
        for name, child in module.named_children():
            if isinstance(child, FairseqDropout):
                setattr(module, name, CheapDropout(child.p, child.module_name))
            elif type(child) is nn.Linear:
                setattr(module, name, OneDnnLinear(child))
