"""Files of translations that were made elsewhere: what each is of, by its name."""

from pathlib import Path
from typing import NamedTuple

from zsnmt.errors import InputError
from zsnmt.languages import Direction, parse_direction
from zsnmt.runs.ways import DIRECT, PIVOT, Way

WAYS = DIRECT, PIVOT


class Translated(NamedTuple):
    """What a file is of."""

    way: Way
    direction: Direction


def translated_in(path: Path) -> Translated | None:
    """What a file is of, by its name, `de-fr.txt` or `pivot.de-fr.txt`; None for another file."""
    first, dot, rest = path.stem.partition(".")
    way = {way.file_name: way for way in WAYS}.get(first if dot else DIRECT.file_name)
    try:
        direction = parse_direction(rest if dot else first)
    except InputError:
        return None
    return None if way is None else Translated(way, direction)


def has_translations(folder: Path) -> bool:
    """Whether a folder has files of translations."""
    return any(map(translated_in, folder.glob("*.txt")))
