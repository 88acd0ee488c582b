"""Zip archives, as some documents are."""

import io
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from zipfile import ZipFile


def unpacked_size(path: Path) -> int:
    """How many bytes an archive has when it is unpacked, by what it says; `BadZipFile` for another file."""
    with ZipFile(path) as packed:
        return size_of(packed)


def size_of(packed: ZipFile) -> int:
    """How many bytes the members of an archive say that they have."""
    return sum(member.file_size for member in packed.infolist())


class Archive:
    """The members of a zip archive, in memory.

    `ValueError` for one that says that it unpacks to more than `most` bytes; `BadZipFile`, and other
    exceptions of `zipfile`, for a file that is none, is damaged or has a password.
    """

    def __init__(self, path: Path, most: int) -> None:
        with ZipFile(path) as packed:
            if size_of(packed) > most:
                raise ValueError(f"it would take more than {most:,} bytes unpacked")
            self.members = [(member, packed.read(member)) for member in packed.infolist()]
        self.contents = {member.filename: content for member, content in self.members}

    def written(self, changed: Mapping[str, bytes]) -> bytes:
        """The archive with other contents of some members, by their names; all else about it stays."""
        file = io.BytesIO()
        with ZipFile(file, "w") as packed:
            for member, content in self.members:
                packed.writestr(copy(member), changed.get(member.filename, content))
        return file.getvalue()
