"""Types of arguments that several verbs take, as argparse calls them; each raises `ArgumentTypeError`."""

import math
from argparse import ArgumentTypeError

from zsnmt.errors import InputError
from zsnmt.languages import Direction, parse_directions

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
