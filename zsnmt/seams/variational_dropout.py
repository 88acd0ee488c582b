"""Dropout masks that the tokens of a sentence share (Liu et al. 2021, section 3.2)."""

from argparse import Namespace
from collections.abc import Callable

from fairseq.models.transformer import TransformerModel
from fairseq.modules import FairseqDropout
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
    stack.dropout_module = shared_over(1, stack.dropout_module)
    for layer in stack.layers.children():  # iterating would skip layers at random under layer drop
        layer.dropout_module = shared_over(0, layer.dropout_module)
        layer.activation_dropout_module = shared_over(0, layer.activation_dropout_module)
        if (blocks := getattr(layer, "language_feed_forward", None)) is not None:
            blocks.dropout_module = shared_over(0, blocks.dropout_module)


def shared_over(time_axis: int, dropout: FairseqDropout) -> VariationalDropout:
    """The variational dropout that takes the place of another one."""
    return VariationalDropout(dropout.p, time_axis, dropout.module_name)
