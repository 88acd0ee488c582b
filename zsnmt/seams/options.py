"""Defaults of options, for whoever builds a model without a command line."""

from argparse import Namespace


def set_defaults(args: Namespace, **defaults: object) -> None:
    """Set the options that were not given."""
    for name, value in defaults.items():
        setattr(args, name, getattr(args, name, value))
