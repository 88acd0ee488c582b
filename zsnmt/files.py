"""Files that are whole or not there."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from zipfile import ZipFile, is_zipfile

from zsnmt.errors import InputError

OVERLAP_FILE = (
    "overlap.json"  # beside training text, and in a run's record: its overlap with held-out sentences
)
END_OF_ARCHIVE = b"PK\5\6"  # the last record of a zip archive begins so, and has 18 bytes more
FOLDER = 0x10  # the attribute of a part that is a folder, of which PyTorch reads nothing
CANNOT_GROW = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A binary file, written beside `path` as `path.part`, that takes its place when the block ends.

    When the block or the writing fails, `path` stays as it was and the `.part` file is removed. The
    OSError of a full disk names `path`.
    """
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
        os.replace(part, path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in CANNOT_GROW and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill, `folder.part`, that becomes `folder` when the block ends.

    Raises `InputError` if `folder` is there already. When the block fails, nothing is left.
    """
    if folder.exists():
        raise InputError(f"{folder} is there already; remove it or give another folder")
    with replacing_folder(folder) as part:
        yield part


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill, `folder.part`, that takes the place of `folder` when the block ends.

    When the block fails, `folder` stays as it was and the `.part` folder is removed.
    """
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(part, folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def sha256(path: Path) -> str:
    """The checksum of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def unchanged(path: Path) -> Iterator[str]:
    """The checksum of a file that is read in the block; `InputError` if it is another one when that ends."""

    def identity() -> tuple[int, int, int]:
        status = path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns

    before = identity()
    yield sha256(path)
    if identity() != before:
        raise InputError(f"{path} was replaced while it was read; run the same command again")


def check_archive(path: Path) -> None:
    """`InputError` for a zip archive, as PyTorch writes them, that was changed since; other files pass.

    An archive keeps a checksum (CRC-32) of each file in it, which PyTorch does not look at.
    """
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
            f"{path} is damaged: it is not as it was written; copy it again, or remove it and make it anew"
        )


def checksum_of(content: Mapping) -> str:
    """A short checksum, 16 hexadecimal digits, of a mapping whose keys can be sorted and whose values
    print all they are.
    """
    return hashlib.sha256(repr(sorted(content.items())).encode("utf-8")).hexdigest()[:16]


def read_json(path: Path, remedy: str) -> dict:
    """What a JSON file says; an `InputError` with the remedy if it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} is missing; {remedy}") from None
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); remove it, then {remedy}") from error


def write_json(path: Path, content: dict) -> None:
    """Write a file that is whole or not there."""
    with replacing(path) as file:
        file.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))
