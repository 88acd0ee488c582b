"""The one error a person can mend."""

from collections.abc import Callable
from typing import NoReturn

CHARACTERS = 200  # of another program's error that are shown


class InputError(ValueError):
    """What a person gave cannot be used; the message says what, the rule and the remedy."""


class PassingError(InputError):
    """What may be over when the same command is given again, such as a machine that is gone."""


OnFault = Callable[[InputError], object]  # is given what breaks a rule, after which reading goes on


def refuse(fault: InputError) -> NoReturn:
    """Stops at the first fault."""
    raise fault


def pass_over(fault: InputError) -> None:
    """Leaves a fault to another reading."""


def no_file(path: object) -> InputError:
    """What is said of a file to read that is not there."""
    return InputError(f"{path}: there is no such file; name one that is there")


def in_one_line(error: BaseException) -> str:
    """What an error of another program says, without line ends; where it is long, its beginning."""
    return " ".join(str(error).split())[:CHARACTERS]


def counted(number: int, thing: str) -> str:
    """`1 column`, `2 columns`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


GO_ON = "what was done is kept, and the same command goes on from it once that is mended"
SAVED = "told to end: saved after"  # so many updates: what a training says last that saved where it was
