"""The folder of binarised data that fairseq trains on."""

from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.languages import LANGUAGES_FILE


def check_replaceable(folder: Path, sign: str = LANGUAGES_FILE) -> None:
    """Raises `InputError` for what is there without the `sign` of binarised data, a file, and so is not to
    be overwritten.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / sign).is_file()):
        raise InputError(
            f"{folder} holds something else than binarised data; name a new folder, or remove it first"
        )
