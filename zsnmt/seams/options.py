"""Defaults of options, for whoever builds a model without a command line, and options without effect."""

from argparse import Namespace

from zsnmt.errors import InputError


def set_defaults(args: Namespace, **defaults: object) -> None:
    """Set the options that were not given."""
    for name, value in defaults.items():
        setattr(args, name, getattr(args, name, value))


def refuse_without(needed: str, args: Namespace, **defaults: object) -> None:
    """`InputError` for options that differ from their defaults, where the option that they need is not
    given.
    """
    for name, default in defaults.items():
        if (value := getattr(args, name)) != default:
            raise InputError(
                f"--{name.replace('_', '-')} {value} has no effect without {needed}; give both, or leave it "
                "out"
            )
