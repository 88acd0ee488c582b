"""Training on a CPU by cheaper dropout, products and attention, in the same model to rounding."""

from argparse import Namespace
from collections.abc import Callable

from fairseq.models.transformer import TransformerModel
from fairseq.modules.fairseq_dropout import FairseqDropout
from fairseq.tasks import FairseqTask
from torch import nn
from torch.nn import functional as F

from zsnmt.errors import InputError
from zsnmt.modules.cheap_dropout import CheapDropout
from zsnmt.modules.onednn_linear import OneDnnLinear, OneDnnReluLinear
from zsnmt.modules.self_attention import SelfAttention

DEFAULTS = {"fast_training": False}


def add_options(add: Callable) -> None:
    add(
        "--fast-training",
        action="store_true",
        help="train faster on a CPU: the same model to rounding, but other random numbers for dropout, "
        "whose probabilities become multiples of 1/65536",
    )


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Let a model train, on a CPU, by cheap masks of dropout, products of oneDNN, and attention without
    fairseq's detours.
    """
    if not args.fast_training:
        return
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
    for module in [*model.modules()]:
        dropout = getattr(module, "activation_dropout_module", None)
        if isinstance(dropout, CheapDropout) and module.activation_fn is F.relu:
            module.fc1 = OneDnnReluLinear(module.fc1, dropout)
            module.activation_fn, module.activation_dropout_module = nn.Identity(), nn.Identity()
