"""Encoder layers that lose a residual connection: of the self-attention (Liu et al. 2021, section 2.1), or of
the feed-forward block (Qu and Watanabe 2022).
"""

import logging
from argparse import Namespace
from collections.abc import Callable

from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask
from torch import nn

from zsnmt.errors import InputError
from zsnmt.modules.attention_residual import (
    EarlyRemoval,
    MeanPoolResidual,
    RemoveResidual,
    StochasticResidual,
)
from zsnmt.seams.layers import chosen_layers
from zsnmt.seams.options import refuse_without, value_of

logger = logging.getLogger(__name__)

OPTION, NOTHING = "--encoder-residual-removal-layers", "nothing"
OF_FEED_FORWARD = "--encoder-feed-forward-residual-removal-layers"
UPDATES = "--encoder-residual-removal-updates"
DEFAULTS = {
    "encoder_residual_removal_layers": "none",
    "encoder_residual_replacement": NOTHING,
    "encoder_residual_removal_updates": 0,
    "encoder_feed_forward_residual_removal_layers": "none",
}


def add_options(add: Callable) -> None:
    add(
        OPTION,
        metavar="LAYERS",
        help="encoder layers, counted from 1, whose self-attention loses its residual connection: "
        "none, middle (3 of 5, 5 of 8), or numbers like 3 or 2,3",
    )
    add(
        "--encoder-residual-replacement",
        choices=[NOTHING, "mean_pool", "stochastic"],
        help="what stands in for a removed residual: nothing; the sentence's mean; the residual at random",
    )
    add(
        UPDATES,
        type=int,
        metavar="N",
        help="the residual of the self-attention is removed for the first N updates alone, and comes back "
        "then; 0: it never comes back",
    )
    add(
        OF_FEED_FORWARD,
        metavar="LAYERS",
        help="encoder layers whose feed-forward block loses its residual connection: none, middle, or "
        "numbers",
    )


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Put the replacement in the place of the residual of each chosen layer."""
    layers = model.encoder.layers
    feed_forward = args.encoder_feed_forward_residual_removal_layers
    for number in chosen_layers(feed_forward, len(layers), OF_FEED_FORWARD):
        layers[number - 1].feed_forward_residual = RemoveResidual()
    chosen = chosen_layers(args.encoder_residual_removal_layers, len(layers), OPTION)
    if not chosen:
        refuse_without(OPTION, args, encoder_residual_replacement=NOTHING, encoder_residual_removal_updates=0)
    updates = args.encoder_residual_removal_updates
    if updates and args.encoder_residual_replacement != NOTHING:
        raise InputError(
            f"{UPDATES} is for residuals that nothing replaces; leave out --encoder-residual-replacement"
        )
    for number in chosen:
        layers[number - 1].attention_residual = replacement(
            args.encoder_residual_replacement, updates, depth=number / len(layers)
        )


def replacement(kind: str, updates: int, depth: float) -> nn.Module:
    """What stands in for a residual that is removed for so many updates, or for good (0), at a depth: the
    share of layers up to its own.
    """
    if kind == "mean_pool":
        return MeanPoolResidual()
    if kind == "stochastic":
        return StochasticResidual(0.5 * depth)
    if not updates:
        return RemoveResidual()
    with value_of(UPDATES):
        return EarlyRemoval(updates)


def settle(model: nn.Module) -> None:
    """Put what they are at present in the place of residuals that come back in training, for translation;
    with a warning where one has not come back yet.
    """
    for layer in list(model.modules()):
        if isinstance(residual := getattr(layer, "attention_residual", None), EarlyRemoval):
            layer.attention_residual = residual.settled()
            if isinstance(layer.attention_residual, RemoveResidual):
                logger.warning(
                    "the model is of a time before its residual came back: its training had not made the %d "
                    "updates of %s when it was kept",
                    residual.updates,
                    UPDATES,
                )
