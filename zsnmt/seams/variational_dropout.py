"""Dropout masks that the tokens of a sentence share (Liu et al. 2021, section 3.2)."""

from argparse import Namespace
from collections.abc import Callable

from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask
from torch import nn

from zsnmt.modules.variational_dropout import VariationalDropout

DEFAULTS = {"variational_dropout": False}


def add_options(add: Callable) -> None:
    add(
        "--variational-dropout",
        action="store_true",
        help="share the dropout masks over time (attention probabilities keep the ordinary dropout)",
    )


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    if args.variational_dropout:
        share_dropout_over_time(model.encoder)
        share_dropout_over_time(model.decoder)


def share_dropout_over_time(stack: nn.Module) -> None:
    """Swap the dropout of embeddings and blocks, not of attention probabilities, for the variational one."""
    stack.dropout_module = VariationalDropout(stack.dropout_module.p, time_axis=1)
    for layer in stack.layers.children():  # iterating would skip layers at random under layer drop
        layer.dropout_module = VariationalDropout(layer.dropout_module.p, time_axis=0)
        layer.activation_dropout_module = VariationalDropout(layer.activation_dropout_module.p, time_axis=0)
        if (blocks := getattr(layer, "language_feed_forward", None)) is not None:
            blocks.dropout_module = VariationalDropout(blocks.dropout_module.p, time_axis=0)
