"""The folder of binarised data that fairseq trains on, and the folders in it with further shards.

The training text of a folder may be dealt to several shards, of which an epoch reads one. The first lies in
the folder itself, beside all that is not training text; `shard2`, `shard3` … have training text alone.
"""

from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.languages import LANGUAGES_FILE, Direction

SHARD = "shard"  # begins the names of folders


def find_data(folder: Path, split: str, direction: Direction, language: str) -> Path | None:
    """The data of a pair of languages in one language, `.idx` and `.bin` left out, in whichever order the
    pair is named; None where there are none.
    """
    for source, target in (direction, direction[::-1]):
        if (folder / f"{split}.{source}-{target}.{language}.idx").is_file():
            return folder / f"{split}.{source}-{target}.{language}"
    return None


def check_replaceable(folder: Path, sign: str = LANGUAGES_FILE) -> None:
    """Raises `InputError` for what is there without the `sign` of binarised data, a file, and so is not to
    be overwritten.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / sign).is_file()):
        raise InputError(
            f"{folder} holds something else than binarised data; name a new folder, or remove it first"
        )


def name_shards(folder: Path, number: int) -> list[Path]:
    """The folders of so many shards, the first of which is the folder itself."""
    return [folder, *(folder / f"{SHARD}{each}" for each in range(2, number + 1))]


def shards_of(folder: Path) -> list[Path]:
    """The folders of the shards that there are; `InputError` where one is missing."""
    shards = name_shards(folder, 1 + len([*folder.glob(f"{SHARD}[0-9]*")]))
    if missing := [shard for shard in shards[1:] if not shard.is_dir()]:
        raise InputError(
            f"{missing[0]} is missing, a part of the training text; remove {folder} and give the command "
            "that makes it again"
        )
    return shards
