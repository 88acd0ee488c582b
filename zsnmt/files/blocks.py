"""A file that takes hours to write: the blocks that were done when it was stopped are gone on with."""

import glob
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from zsnmt.errors import InputError
from zsnmt.files.checksums import checksum_of
from zsnmt.files.replacing import check_output, errors_naming
from zsnmt.files.system_locks import try_lock_alone

BEGINNING = 50  # characters of a name that the name of its part begins with at most, so that any has room
ANY_KEY = "[0-9a-f]" * 16
NOTE = re.compile(rb"(\d+) (\d+)\n")  # on a block: the lines that are done, and the bytes that are written


class Blocks:
    """The whole blocks of a part, and the notes on where each of them ends; `done`: of how many lines they
    were made.
    """

    def __init__(self, part: BinaryIO, notes: BinaryIO) -> None:
        self.part, self.notes, self.done = part, notes, 0
        end = noted = 0
        notes.seek(0)
        for line in notes:
            note = NOTE.fullmatch(line)
            if note is None or int(note[2]) > os.fstat(part.fileno()).st_size:
                break
            self.done, end = int(note[1]), int(note[2])
            noted += len(note[0])
        part.truncate(end)
        notes.truncate(noted)

    def add(self, content: bytes, lines: int) -> None:
        """Write what was made of so many further lines; it stays whatever happens next."""
        done = self.done + lines
        write_through(self.part, content)
        write_through(self.notes, b"%d %d\n" % (done, os.fstat(self.part.fileno()).st_size))
        self.done = done


def write_through(file: BinaryIO, content: bytes) -> None:
    """Write to a file and have it on the disk."""
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def writing_blocks(path: Path, key: str) -> Iterator[Blocks]:
    """The blocks of a file that takes the place of `path`, links followed, when the block of code ends. When
    that fails, what was done stays beside `path`, which stays as it was, and is there at the next call.

    `key`: the checksum (`checksum_of`) of all that decides what is written. Parts with another key are
    outdated when the file is there, and are removed. Raises `InputError` for a folder, and where another
    process writes the same. An OSError names `path` instead of the part.
    """
    check_output(path)
    target = Path(os.path.realpath(path))
    part = part_of(target, key)
    with errors_naming(path, part), open_alone(part, path) as file, notes_of(part).open("a+b") as notes:
        blocks = Blocks(file, notes)
        try:
            yield blocks
            part.replace(target)
        finally:
            if not (blocks.done and part.exists()):
                remove(part)
    for other in target.parent.glob(f"{glob.escape(name_of_parts(target))}.{ANY_KEY}.part"):
        with suppress(OSError), other.open("r+b") as file:
            if take(file):
                remove(other)


def part_of(target: Path, key: str) -> Path:
    """Where the blocks of a file are until all are there."""
    return target.with_name(f"{name_of_parts(target)}.{key}.part")


def name_of_parts(target: Path) -> str:
    """What the parts of this file, and of no other, are called before their keys."""
    name = target.name
    return name if len(name) <= BEGINNING else f"{name[:BEGINNING]}.{checksum_of({'name': name})}"


def notes_of(part: Path) -> Path:
    """The file that says where each block ends."""
    return part.with_name(f"{part.name}.ends")


def remove(part: Path) -> None:
    for path in (part, notes_of(part)):
        path.unlink(missing_ok=True)


@contextmanager
def open_alone(part: Path, path: Path) -> Iterator[BinaryIO]:
    """A part to append to, which no other process has; `InputError` if one has."""
    while True:
        with part.open("a+b") as file:
            if not take(file):
                raise InputError(f"another process is writing {path}; wait for it or end it")
            if part.exists() and os.path.samestat(part.stat(), os.fstat(file.fileno())):
                yield file
                return
            # Else another process ended before this one had the lock, and has put the file in its place.


def take(file: BinaryIO) -> bool:
    """Lock a part until it is closed. Whether no other process has; where the file system has no locks, none
    is seen.
    """
    try:
        return try_lock_alone(file)
    except OSError:
        return True
