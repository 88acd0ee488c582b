"""Zip archives, as some documents are."""

from pathlib import Path
from zipfile import ZipFile


def unpacked_size(path: Path) -> int:
    """How many bytes an archive has when it is unpacked, by what it says; `BadZipFile` for another file."""
    with ZipFile(path) as packed:
        return sum(member.file_size for member in packed.infolist())
