"""Relative keys and values in the self-attention of both stacks (Shaw et al. 2018; Li 2019)."""

from argparse import Namespace
from collections.abc import Callable

from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask

from zsnmt.errors import InputError
from zsnmt.modules.relative_attention import use_relative_attention

DEFAULTS = {"relative_attention_distance": "none"}


def add_options(add: Callable) -> None:
    add(
        "--relative-attention-distance",
        metavar="K",
        help="give the self-attention of both stacks relative keys and values, for offsets clipped to -K...K "
        "(Shaw et al. 2018): a whole number, or none",
    )


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Give every self-attention tables of relative keys and values of its own."""
    distance = clip_distance(str(args.relative_attention_distance))
    if distance is None:
        return
    if args.cross_self_attention:
        raise InputError(
            "--relative-attention-distance does not go with --cross-self-attention; leave one of them out"
        )
    layers = *model.encoder.layers.children(), *model.decoder.layers.children()
    use_relative_attention([layer.self_attn for layer in layers], distance)


def clip_distance(text: str) -> int | None:
    """The distance that an option names; None for none."""
    if text == "none":
        return None
    if not text.isdecimal():
        raise InputError(
            f"--relative-attention-distance is '{text}': write a whole number, 0 or more, or none"
        )
    return int(text)
