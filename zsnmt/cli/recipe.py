"""What the verbs have in common that make experiments: where things are, and the environment of the
processes they start.
"""

import os
import sys
import warnings
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.files.project import CHECKOUT, ROOT
from zsnmt.training.children import SETTINGS
from zsnmt.training.steps import Steps


class Recipe:
    """A call of a verb: `steps` does its steps, `runs` holds the runs, and `variables` are what `$NAME` is
    in a config.
    """

    def __init__(self, verb: str, check: bool = False) -> None:
        self.steps = Steps(verb, check)
        self.runs = Path(os.environ.get("RUNS") or (CHECKOUT or Path.cwd()) / "runs")
        self.variables: Mapping[str, str] = {**os.environ, "ROOT": str(ROOT)}
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)
        if not sys.warnoptions:
            warnings.simplefilter("ignore")


def add_check(parser: console.Parser) -> None:
    """Add the option that has all inputs compared by content."""
    parser.add_argument(
        "--check",
        action="store_true",
        help="read all inputs again, though their sizes and times are as they were",
    )


def split_options(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before `--`, and the options of fairseq-train after it."""
    words = [*arguments]
    place = words.index("--") if "--" in words else len(words)
    return words[:place], words[place + 1 :]


def add_seeds(parser: console.Parser, default: Sequence[int] | None = (1,)) -> None:
    """Add `--seeds`."""
    parser.add_argument(
        "--seeds", type=whole_number, nargs="+", metavar="K", default=default, help="seeds, a run for each"
    )


def whole_number(word: str) -> int:
    """A whole number, 0 or above."""
    if not (word.isascii() and word.isdigit()):
        raise ArgumentTypeError(f"'{word}' is not a whole number, 0 or above")
    return int(word)


def positive(word: str) -> int:
    """A whole number above 0."""
    if not (word.isascii() and word.isdigit() and int(word)):
        raise ArgumentTypeError(f"'{word}' is not a whole number above 0")
    return int(word)


def parse(parser: console.Parser, arguments: Sequence[str] | None) -> Namespace:
    """The options of a verb, which may stand before and between what it is called for.

    Raises `WrongUse` for an option that does not exist.
    """
    return parser.parse_intermixed_args(sys.argv[1:] if arguments is None else arguments)
