"""Types of arguments that several verbs take, as argparse calls them; each raises `ArgumentTypeError`."""

import math
from argparse import ArgumentTypeError
from pathlib import Path

from zsnmt import console
from zsnmt.errors import InputError
from zsnmt.languages import Direction, parse_directions
from zsnmt.runs.folder import (
    COMMAND_FILE,
    CONFIDENCE_FILE,
    CONFIG_FILE,
    EXPORT_FILE,
    LOG_FILE,
    MODEL_FILE,
    RECORD_FILE,
)
from zsnmt.runs.score_file import SCORES_FILE

RECORDS = RECORD_FILE, EXPORT_FILE  # one of which every run or export has
FILES_OF_RUN = *RECORDS, CONFIG_FILE, MODEL_FILE, LOG_FILE, COMMAND_FILE, SCORES_FILE, CONFIDENCE_FILE
LAST_SEED = 2**32 - 1  # that NumPy's older generators take


def some_words(text: str) -> list[str]:
    """Words with spaces between them, one or more."""
    if not (words := text.split()):
        raise ArgumentTypeError("there is no word in it; name some, or leave the option out")
    return words


def whole_number(word: str) -> int:
    """A whole number, 0 or above."""
    if not (word.isascii() and word.isdigit()):
        raise ArgumentTypeError(f"'{word}' is not a whole number, 0 or above")
    return int(word)


def seed_number(word: str) -> int:
    """A whole number that all generators of random numbers take as a seed."""
    if (number := whole_number(word)) > LAST_SEED:
        raise ArgumentTypeError(f"'{word}' is not a seed; give a whole number from 0 to {LAST_SEED}")
    return number


def positive(word: str) -> int:
    """A whole number above 0."""
    if not (word.isascii() and word.isdigit() and int(word)):
        raise ArgumentTypeError(f"'{word}' is not a whole number above 0")
    return int(word)


def positive_or_all(word: str) -> int:
    """A whole number above 0, or 0 for all."""
    return 0 if word == "all" else positive(word)


def directions(word: str) -> list[Direction]:
    """Directions with commas between them, as in de-fr,fr-de."""
    try:
        return parse_directions(word)
    except InputError as error:
        raise ArgumentTypeError(str(error)) from None


def hours(word: str) -> float:
    """A time in hours of a minute or more: none would be no bound."""
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not 1 / 60 <= number < math.inf:  # which no NaN is
        raise ArgumentTypeError(f"'{word}' is not a number of hours, a minute or more")
    return number


def output_file(word: str) -> Path:
    """An option's file to write, refused at once where it cannot be, and where a run or an export has a file
    of its own there.
    """
    path = console.output_file(word)
    there = path.resolve()
    if there.name in FILES_OF_RUN and any((there.parent / record).is_file() for record in RECORDS):
        raise ArgumentTypeError(
            f"{path} is a file that {path.parent} keeps for itself; name another, or leave the option out"
        )
    return path
