"""Defaults of options, for whoever builds a model without a command line, and options that are refused."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from zsnmt.errors import InputError


def set_defaults(args: Namespace, **defaults: object) -> None:
    """Set the options that were not given."""
    for name, value in defaults.items():
        setattr(args, name, getattr(args, name, value))


def spelt(name: str) -> str:
    """An option as it is typed."""
    return f"--{name.replace('_', '-')}"


def attribute_of(option: str) -> str:
    """The name of an option, as it is typed, among those that were read."""
    return option.removeprefix("--").replace("-", "_")


def refuse_without(needed: str, args: Namespace, **defaults: object) -> None:
    """`InputError` for options that differ from their defaults, where the option that they need is not
    given.
    """
    for name, default in defaults.items():
        if (value := getattr(args, name)) != default:
            given = spelt(name) if value is True else f"{spelt(name)} {value}"
            raise InputError(f"{given} has no effect without {needed}; give both, or leave it out")


def refuse_other_than_probabilities(args: Namespace, *names: str) -> None:
    """`InputError` for an option that must be a probability, below 1."""
    for name in names:
        if not 0 <= (value := getattr(args, name)) < 1:
            raise InputError(f"{spelt(name)} {value} must be at least 0 and below 1")


def refuse_impossible_sizes(args: Namespace, *stacks: str) -> None:
    """`InputError` for a stack (`encoder` or `decoder`) without a layer, a width or a head, and for heads
    that do not divide its width.
    """
    for stack in stacks:
        for size in ("layers", "embed_dim", "ffn_embed_dim", "attention_heads"):
            if (value := getattr(args, name := f"{stack}_{size}")) < 1:
                raise InputError(f"{spelt(name)} {value} must be 1 or more")
        width, heads = getattr(args, f"{stack}_embed_dim"), getattr(args, f"{stack}_attention_heads")
        if width % heads:
            raise InputError(
                f"--{stack}-embed-dim {width} must be a multiple of --{stack}-attention-heads {heads}"
            )


@contextmanager
def value_of(option: str) -> Iterator[None]:
    """Turns what a module says of a value that it cannot have, a `ValueError`, into an `InputError` that
    names the option.
    """
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{option}: {error}") from error


def refuse_sharded_layers(args: Namespace) -> None:
    """`InputError` for weights in shards, for which fairseq hides each layer behind another module before its
    seams are filled.
    """
    if getattr(args, "ddp_backend", None) == "fully_sharded":
        raise InputError(
            "--ddp-backend fully_sharded hides the layers that options of this model change; leave it out"
        )


def refuse_pruning(args: Namespace, defaults: Mapping[str, object]) -> None:
    """`InputError` where fairseq leaves out layers of a model, and options with these defaults name some:
    these would be others then.
    """
    stacks = "encoder", "decoder"
    kept = [name for stack in stacks if getattr(args, name := f"{stack}_layers_to_keep", None)]
    naming = [
        name
        for name, default in defaults.items()
        if name.endswith("_layers") and getattr(args, name) != default
    ]
    if kept and naming:
        raise InputError(
            f"{spelt(kept[0])} numbers the layers anew, and those of {spelt(naming[0])} would be others "
            "than in the training; leave it out"
        )


def refuse_what_embeddings_cannot(args: Namespace) -> None:
    """`InputError` for options of fairseq that do not go with tables that have word dropout, or with one that
    is the output's, too.
    """
    if getattr(args, "quant_noise_scalar", 0):
        raise InputError("--quant-noise-scalar does not know embeddings with word dropout; leave it out")
    width, output = args.decoder_embed_dim, args.decoder_output_dim
    if output != width and (args.share_all_embeddings or args.share_decoder_input_output_embed):
        raise InputError(
            f"--decoder-output-dim {output} does not go with --decoder-embed-dim {width}, as the embeddings "
            "are the weights of the output, too; leave it out"
        )
