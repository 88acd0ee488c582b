"""Archives unpacked whole or not at all, and never outside their folder."""

import bz2
import gzip
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol

from zsnmt.errors import InputError
from zsnmt.files.replacing import errors_naming, replacing, replacing_folder

BYTE_LIMIT = 2**32  # the largest release known here unpacks to about 2**30
MEMBER_LIMIT = 10_000

TAR = (".tgz", ".tar.gz")
OF_FOLDERS = (*TAR, ".zip")
ENDINGS = (*OF_FOLDERS, ".gz", ".bz2")
CHUNK = 2**20
# The last from an encrypted zip, or one of an unknown kind.
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    RuntimeError,
)


class Refused(Exception):
    """An archive holds what is not unpacked; the message says what."""


class Allowance:
    """What an archive and the archives in it may still write: bytes and files."""

    def __init__(self, size: int, members: int) -> None:
        self.size, self.members = size, members

    def take(self, size: int = 0, members: int = 0) -> None:
        self.size -= size
        self.members -= members
        if self.size < 0 or self.members < 0:
            raise Refused("it holds more " + ("bytes" if self.size < 0 else "files") + " than a release does")


def unpacked_name(name: str) -> str:
    """The name of what `unpack` makes of an archive; of a file that is not an archive, its own."""
    return next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending)), name)


def unpack(
    archive: Path,
    target: Path,
    nested: Sequence[str] = (),
    byte_limit: int = BYTE_LIMIT,
    member_limit: int = MEMBER_LIMIT,
) -> None:
    """Unpacks a `.tgz`, `.tar.gz` or `.zip` into the folder `target`, a `.gz` or `.bz2` into the file.

    `nested`: globs of archives in the archive; a folder of what it holds takes the place of each. The
    limits are for everything together. Raises InputError for an archive that is damaged, breaks a limit,
    lacks a nested archive or holds a link, a device or a path out of its folder; then, and when the disk
    is full, `target` stays as it was.
    """
    with refusals_naming(archive):
        write(archive, target, nested, allowance=Allowance(byte_limit, member_limit))


@contextmanager
def refusals_naming(archive: Path) -> Iterator[None]:
    """Turns what is wrong with an archive into an `InputError`."""
    try:
        yield
    except DAMAGE as error:
        raise InputError(
            f"{archive} is damaged or cut short ({error}); remove it and fetch it anew"
        ) from error
    except Refused as error:
        raise InputError(
            f"{archive} is not unpacked: {error}; it is not what its makers released, so remove it "
            f"and fetch it anew"
        ) from error


class Stream(Protocol):
    """What a file of an archive holds."""

    def read(self, size: int, /) -> bytes: ...


def write(archive: Path, target: Path, nested: Sequence[str], allowance: Allowance) -> None:
    if not archive.name.endswith(OF_FOLDERS):
        allowance.take(members=1)
        with open_packed(archive) as packed, replacing(target) as file:
            copy(packed, file, allowance)
        return
    with replacing_folder(target) as part:
        for name, stream in tar_members(archive) if archive.name.endswith(TAR) else zip_members(archive):
            allowance.take(members=1)
            write_member(part / check_member(name), name, stream, allowance=allowance)
        if not any(part.iterdir()):
            raise Refused("it holds no file")
        for pattern in nested:
            inner_archives = sorted(part.glob(pattern))
            if not inner_archives:
                raise Refused(f"it holds no {pattern}")
            for inner in inner_archives:
                write(inner, inner.with_name(unpacked_name(inner.name)), (), allowance=allowance)
                inner.unlink()


@contextmanager
def open_packed(archive: Path) -> Iterator[Stream]:
    """What a packed file holds."""
    if not archive.name.endswith(".bz2"):
        with gzip.open(archive) as stream:
            yield stream
        return
    try:
        with bz2.open(archive) as stream:
            yield stream
    except OSError as error:
        if error.errno is None:  # bzip2 has no error of its own for what is damaged
            raise EOFError(str(error)) from error
        raise


def write_member(path: Path, name: str, stream: Stream, allowance: Allowance) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with errors_naming(path), path.open("wb") as file:
            copy(stream, file, allowance)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise Refused(f"{name!r} in it is both a file and a folder") from None


def copy(stream: Stream, file: BinaryIO, allowance: Allowance) -> None:
    while chunk := stream.read(CHUNK):
        allowance.take(size=len(chunk))
        file.write(chunk)


# The names of an archive's files and what they hold, each to be read before the next is asked for.


def tar_members(archive: Path) -> Iterator[tuple[str, Stream]]:
    with gzip.open(archive) as stream, tarfile.open(fileobj=stream, mode="r|", bufsize=CHUNK) as tar:
        for member in tar:
            if member.isreg() and (content := tar.extractfile(member)):
                yield member.name, content
            elif not member.isdir():
                raise Refused(f"{member.name!r} in it is a link or a device")
        while stream.read(CHUNK):  # to the end, where gzip compares its checksum
            pass


def zip_members(archive: Path) -> Iterator[tuple[str, Stream]]:
    with zipfile.ZipFile(archive) as zipped:
        for member in zipped.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):  # 0 where the zip was not made on Unix
                raise Refused(f"{member.filename!r} in it is a link or a device")
            if not member.is_dir():
                with zipped.open(member) as stream:
                    yield member.filename, stream


def check_member(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or re.match("[A-Za-z]:", name):
        raise Refused(f"{name!r} in it leads out of its folder")
    return path
