"""The operating system's locks on files and folders, each held until what was opened is closed. An OSError
means that the file system has no locks.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def open_to_lock(path: Path) -> int:
    """A file or folder opened so that it can be locked, on a network file system too."""
    return os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)


@contextmanager
def opened_to_lock(path: Path) -> Iterator[int]:
    """The same, closed when the block ends."""
    opened = open_to_lock(path)
    try:
        yield opened
    finally:
        os.close(opened)


def try_lock(opened: int | IO) -> bool:
    """Lock for this process and those that it starts; whether no other process has the lock."""
    return flock_at_once(opened, fcntl.LOCK_EX)


def wait_for_lock(opened: int | IO) -> None:
    """Lock for this process and those that it starts, as soon as no other process has the lock."""
    fcntl.flock(opened, fcntl.LOCK_EX)


def is_locked(opened: int | IO) -> bool:
    """Whether another process has the lock of `try_lock`."""
    return not flock_at_once(opened, fcntl.LOCK_SH)


def flock_at_once(opened: int | IO, kind: int) -> bool:
    """Take a lock of a kind of flock without waiting; whether no other process is in its way."""
    try:
        fcntl.flock(opened, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def try_lock_alone(opened: int | IO) -> bool:
    """Lock a file for this process alone, and none that it starts: such a one may live a moment longer.
    Whether no other process has this lock.
    """
    try:
        fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
