"""The words of a command: those of the verb and of fairseq-train, and those that a record keeps."""

import sys
from argparse import Namespace
from collections.abc import Sequence

from zsnmt import console
from zsnmt.console import WrongUse

FLAGS = ("--check", "--slurm")  # which change nothing of a run
OTHER_WORD = "another word"  # that no command has
UNKNOWN = "unrecognized arguments"  # as argparse says it


def split_options(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before `--`, and the options of fairseq-train after it."""
    words = [*arguments]
    place = words.index("--") if "--" in words else len(words)
    return words[:place], words[place + 1 :]


def remove_options(words: Sequence[str], valued: Sequence[str]) -> list[str]:
    """The words of a command without some options that have a value, and without `--check` and `--slurm`."""
    kept = [*words]
    for option in valued:
        while option in kept:
            place = kept.index(option)
            del kept[place : place + 2]
    begun = tuple(f"{option}=" for option in valued)
    return [word for word in kept if word not in FLAGS and not word.startswith(begun)]


def without_positionals(parser: console.Parser, words: Sequence[str], names: Sequence[str]) -> list[str]:
    """The words of a command without those of some positional arguments of one word, also where the value of
    an option is the same word.
    """

    def is_positional(place: int) -> bool:
        if words[place].startswith("-"):
            return False
        try:
            other = parser.parse_args([*words[:place], OTHER_WORD, *words[place + 1 :]])
        except WrongUse:  # the value of an option that takes certain words alone
            return False
        return OTHER_WORD in {str(getattr(other, name)) for name in names}

    return [word for place, word in enumerate(words) if not is_positional(place)]


def parse_own(parser: console.Parser, words: Sequence[str]) -> Namespace:
    """The options of a verb that takes those of fairseq-train after `--`; of words that it does not know, it
    says where those belong.
    """
    try:
        return parser.parse_args(words)
    except console.WrongUse as error:
        if UNKNOWN not in str(error):
            raise
        raise console.WrongUse(f"{error}; options of fairseq-train come after --") from None


def parse_between(parser: console.Parser, arguments: Sequence[str] | None) -> Namespace:
    """The options of a verb, which may stand before and between what it is called for.

    Raises `WrongUse` for an option that does not exist.
    """
    return parser.parse_intermixed_args(sys.argv[1:] if arguments is None else arguments)
