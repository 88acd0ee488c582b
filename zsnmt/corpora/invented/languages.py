"""The invented languages: a standard choice of them, and those that a file describes."""

import json
from dataclasses import fields
from itertools import product
from pathlib import Path

from zsnmt.corpora.invented.grammar import CHOICES, Language
from zsnmt.errors import InputError

STANDARD_LANGUAGES = tuple(
    Language(*row.split())
    for row in """
        inglan inglic SVO before before none   suffix   particle suffix
        velan  velic  SOV before after  suffix suffix   prefix   suffix
        tamun  tamic  VSO after  before none   particle particle prefix
        velor  velic  SVO after  before none   suffix   suffix   particle
        tamek  tamic  SOV before after  prefix prefix   particle prefix
        koral  koric  VSO before before suffix prefix   suffix   suffix
        velis  velic  SOV after  after  suffix particle prefix   suffix
        tamor  tamic  SVO after  before prefix particle suffix   prefix
        kores  koric  SOV after  after  particle suffix particle particle
        korun  koric  SVO before after  suffix prefix   suffix   prefix
    """.strip().splitlines()
)
FURTHER_FAMILIES = "bar cel dov fen gul hes jar lim mor nul pas rov sim tul ust vek wol zin".split()
FURTHER_ENDINGS = ("an", "ek", "or", "is", "un")  # of the languages of a family


def standard_languages(number: int) -> tuple[Language, ...]:
    """The pivot and `number` other languages of unlike typology, the first nine of three families; raises
    InputError.
    """
    languages = STANDARD_LANGUAGES + further_languages()
    most = len(languages) - 1
    if not 1 <= number <= most:
        raise InputError(f"{number} standard languages: there are 1 to {most}; describe others in a file")
    return languages[: number + 1]


def further_languages() -> tuple[Language, ...]:
    """Languages for work with very many of them, five in each family, no two of one typology."""
    typologies = [*product(*CHOICES.values())]
    names = [(family + ending, f"{family}ic") for ending in FURTHER_ENDINGS for family in FURTHER_FAMILIES]
    return tuple(
        Language(*name, *typologies[place * 389 % len(typologies)])  # a prime: far apart in the list
        for place, name in enumerate(names)
    )


def read_languages(path: str | Path) -> tuple[Language, ...]:
    """Languages from a JSON list of objects with the fields of `Language`, the pivot first; raises
    InputError.
    """
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read as JSON in UTF-8 ({error}); give a list of objects"
        ) from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(
            f"{path} is not a list of objects; give one object for each language, the pivot first"
        )
    known = [each.name for each in fields(Language)]
    for number, row in enumerate(rows, 1):
        unknown = sorted(set(row) - set(known))
        missing = sorted({"name", "family"} - set(row))
        if unknown or missing:
            raise InputError(
                f"{path}, language {number}: {', '.join(unknown or missing)} is "
                f"{'unknown' if unknown else 'missing'}; the fields are {', '.join(known)}, of which name "
                "and family are required"
            )
    try:
        return tuple(Language(**row) for row in rows)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
