"""Whether a file is what it was: checksums of files, of archives and of settings."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile, is_zipfile

from zsnmt.errors import InputError
from zsnmt.files.records import check_file

END_OF_ARCHIVE = b"PK\5\6"  # the last record of a zip archive begins so, and has 18 bytes more
FOLDER = 0x10  # the attribute of a part that is a folder, of which PyTorch reads nothing


def sha256(path: Path) -> str:
    """The checksum of a file, in hexadecimal digits."""
    check_file(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity(path: Path) -> tuple[int, int, int, int]:
    """What all names of a file have in common, and no other file has, nor this one once it has changed."""
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def unchanged(path: Path) -> Iterator[str]:
    """The checksum of a file that is read in the block; `InputError` if it is another one when that ends."""
    before = identity(path)
    yield sha256(path)
    if identity(path) != before:
        raise InputError(f"{path} was replaced while it was read; run the same command again")


def check_archive(path: Path) -> None:
    """`InputError` for a zip archive, as PyTorch writes them, that was changed since; other files pass.

    An archive keeps a checksum (CRC-32) of each file in it, which PyTorch does not look at.
    """
    check_file(path)
    try:
        if not is_zipfile(path):
            return
        with path.open("rb") as file, ZipFile(file) as archive:
            first, *_ = parts = archive.infolist()
            file.seek(-len(END_OF_ARCHIVE) - 18, os.SEEK_END)
            whole = first.header_offset == 0 and file.read(len(END_OF_ARCHIVE)) == END_OF_ARCHIVE
            whole &= not any(part.external_attr & FOLDER for part in parts)
            whole = whole and archive.testzip() is None
    except FileNotFoundError:
        raise
    except Exception:  # zipfile raises many kinds
        whole = False
    if not whole:
        raise InputError(
            f"{path} is damaged: it is not as it was written; copy it again, or remove it and make it again"
        )


def checksum_of(content: Mapping) -> str:
    """A short checksum, 16 hexadecimal digits, of a mapping whose keys can be sorted and whose values
    print all they are.

    It is that of `repr(sorted(content.items()))`, which may be many times as large as what it prints, where
    values have much in common.
    """
    checksum = hashlib.sha256(b"[")
    for number, item in enumerate(sorted(content.items())):
        checksum.update((", " * (number > 0) + repr(item)).encode("utf-8"))
    checksum.update(b"]")
    return checksum.hexdigest()[:16]
