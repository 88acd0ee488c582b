"""The settings with which the release of a corpus is read, as options of a command, and in a config."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature
from typing import Any

from zsnmt import console

CORPORA = ("iwslt17", "europarl", "pmindia", "multi30k", "tatoeba", "flores")
SETTINGS: dict[str, dict[str, Any]] = {
    "condition": {
        "help": "how training pairs share sentences: multiway or non_overlap, for europarl also full; for "
        "iwslt17 multiway or diverse"
    },
    "held_out": {"type": int, "metavar": "N", "help": "sentences of valid and of test"},
    "test": {"type": int, "metavar": "N", "help": "sentence pairs of a test set, at most"},
    "valid": {"type": int, "metavar": "N", "help": "sentence pairs of a validation set"},
    "pairs": {"type": int, "metavar": "N", "help": "train each language with at most N sentence pairs"},
    "seed": {"type": int, "help": "seed of all draws"},
    "workers": {"type": int, "help": "processes, else as many as there are cores"},
}


def settings_of(reader: Callable) -> dict:
    """The defaults of what a reader takes besides the release, the target and the languages."""
    return {name: parameter.default for name, parameter in [*signature(reader).parameters.items()][3:]}


def add_corpora(parser: ArgumentParser, add_paths: Callable[[ArgumentParser], object]) -> None:
    """Add a verb for every corpus, with the options that `add_paths` adds and the settings of its reader."""
    corpora = parser.add_subparsers(dest="corpus", required=True)
    for corpus in CORPORA:
        module = import_module(f"zsnmt.corpora.releases.{corpus}")
        options = corpora.add_parser(corpus, help=str(module.__doc__).split("\n")[0])
        add_paths(options)
        for name, default in settings_of(module.read_release).items():
            options.add_argument(f"--{name.replace('_', '-')}", default=default, **SETTINGS[name])
        options.set_defaults(reader=module.read_release)


def reader_of(options: Namespace) -> tuple[Callable, dict]:
    """What reads the release, and the settings to call it with."""
    return options.reader, {name: getattr(options, name) for name in settings_of(options.reader)}


def parse_release(words: Sequence[str]) -> tuple[Callable, dict]:
    """The reader and the settings that the words of a config ask for; `InputError` for words that no
    corpus has.
    """
    parser = console.Parser(prog="zsnmt import-corpus", add_help=False)
    add_corpora(parser, lambda options: None)
    return reader_of(parser.parse_args(words))
