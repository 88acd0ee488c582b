"""Locks on folders: one process at a time makes what is in them."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from zsnmt.errors import InputError, PassingError
from zsnmt.files.replacing import errors_naming
from zsnmt.files.system_locks import is_locked, try_lock, wait_for_lock

LOCK_FILE = ".lock"
PATIENCE = 10.0  # seconds for what a killed process has started to end as well


class Busy(PassingError):
    """Another process holds the lock of a folder."""


@contextmanager
def locked(
    folder: Path, waiting: Callable[[str], object] | None = None, *, name: str = LOCK_FILE
) -> Iterator[None]:
    """Hold the lock of a folder, which is made if it is missing, or another one in it, by its file's `name`.

    A process that is started within the block holds the lock too, until it ends. If another process has the
    lock, `waiting` is told so and the lock is waited for; without it, raises `Busy`. Both name that process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if path.is_symlink():  # in the run of a stranger it could lead to any file, which would be emptied
        raise InputError(f"{path} is a link, which no lock is; remove it")
    with path.open("a+", encoding="utf-8") as file:
        os.set_inheritable(file.fileno(), True)
        if not take(file):
            busy = describe_work(folder, file)
            if waiting is None:
                raise Busy(f"{busy}; wait for it or end it")
            waiting(f"waiting: {busy}")
            wait_for_lock(file)
        write_owner(file, f"{os.getpid()} {socket.gethostname()}")
        try:
            yield
        finally:
            write_owner(file, "")


def work_in(folder: Path) -> str:
    """That another process holds the lock of a folder, in words; nothing where none does."""
    with suppress(FileNotFoundError), (folder / LOCK_FILE).open(encoding="utf-8") as file:
        if is_locked(file):
            return describe_work(folder, file)
    return ""


def describe_work(folder: Path, file: TextIO) -> str:
    return f"another process is at work in {folder}{describe_owner(read_owner(file))}"


def take(file: TextIO) -> bool:
    """Take the lock if it is free, or is about to be: its owner has ended, and what it started ends with
    it.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if try_lock(file):
                return True
        except OSError as error:
            raise InputError(
                f"{file.name} cannot be locked ({error.strerror}): two commands could work on one run; "
                "put RUNS into a folder whose file system has locks (flock)"
            ) from error
        if (owner := read_owner(file)) is None or lives(*owner) or time.monotonic() > end:
            return False
        time.sleep(0.1)


def read_owner(file: TextIO) -> tuple[int, str] | None:
    """The process that wrote its number and machine into the lock, if one did."""
    file.seek(0)
    number, _, host = file.read().partition(" ")
    return (int(number), host.strip()) if number.isdigit() else None


def write_owner(file: TextIO, owner: str) -> None:
    with errors_naming(Path(file.name)):
        file.truncate(0)
        file.write(owner)
        file.flush()


def lives(number: int, host: str) -> bool:
    """Whether a process lives, as far as one can see from this machine."""
    if host != socket.gethostname():
        return True
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    with suppress(OSError):  # where the system says so, one that ended and that nobody has asked about yet
        return Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    return True


def describe_owner(owner: tuple[int, str] | None) -> str:
    if owner is None:
        return ""
    number, host = owner
    here = host == socket.gethostname()
    if not lives(number, host):
        return f" (process {number} has ended, but one that it started goes on)"
    return f" (process {number}{'' if here else f' on {host}'})"
