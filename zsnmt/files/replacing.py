"""Files and folders that are whole or not there: written beside their place, and renamed when done."""

import errno
import glob
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from zsnmt.errors import InputError
from zsnmt.files.system_locks import open_to_lock, opened_to_lock, try_lock, wait_for_lock

CANNOT_GROW = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
BEGINNING = 60  # characters of a name that the name of its part begins with, so that any name has room


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path`, links followed, when the block ends.

    It is written beside `path`, as a part (see `part_of`) that no other writer has. When the block or the
    writing fails, `path` stays as it was and nothing else is left. What is there and cannot be replaced, a
    device or a FIFO, is written to at once. Raises `InputError` for a folder. An OSError names `path`.
    """
    check_output(path)
    if (descriptor := own_descriptor(path)) is not None:
        with errors_naming(path), os.fdopen(os.dup(descriptor), "wb") as file:
            yield file
    elif not is_replaced(path):
        with errors_naming(path), path.open("wb") as file:
            yield file
    else:
        with part_of(path) as part:
            with part.open("wb") as file:
                yield file
            os.replace(part, os.path.realpath(path))


@contextmanager
def new_folder(folder: Path, otherwise: str = "give another folder") -> Iterator[Path]:
    """A folder to fill that becomes `folder` when the block ends.

    Raises `InputError` if `folder` is there already, or is when the block ends, with what can be done
    `otherwise` than to remove it. When the block fails, nothing is left.
    """
    check_new(folder, otherwise)
    with replacing_folder(folder) as part:
        yield part
        check_new(folder, otherwise)  # another process may have made it


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill, a part (see `part_of`), that takes the place of `folder`, links followed, when the
    block ends.

    When the block fails, `folder` stays as it was and nothing else is left. Raises `InputError` for a file.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is not a folder; remove it or name another")
    Path(os.path.realpath(folder)).parent.mkdir(parents=True, exist_ok=True)
    with part_of(folder, of_folder=True) as part:
        yield part
        with hold_lock(part):
            put_in_place(part, folder)


def check_output(path: Path) -> None:
    """`InputError` for a folder where a file is to be written."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file to write")


def is_replaced(path: Path) -> bool:
    """Whether `replacing` puts a new file in the place of `path`, and does not write to what is there."""
    return own_descriptor(path) is None and (path.is_file() or not path.exists())


def check_new(folder: Path, otherwise: str) -> None:
    """`InputError` for a folder that is there."""
    if folder.exists():
        raise InputError(f"{folder} is there already; remove it or {otherwise}")


def own_descriptor(path: Path) -> int | None:
    """The number of an open file of this process where a path such as `/dev/stdout` names one."""
    if path.exists():  # no link leads to itself
        own = Path("/proc/self/fd").resolve()
        while path.is_symlink():
            if path.parent.resolve() == own:
                return int(path.name)
            path = path.parent / path.readlink()
    return None


@contextmanager
def errors_naming(path: Path, part: Path | None = None) -> Iterator[None]:
    """Has an OSError of the block name `path` where a full disk names nothing, and in place of its part."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in CANNOT_GROW:
            error.filename = str(path)
        elif part and str(error.filename).startswith(str(part)):
            error.filename, error.filename2 = str(path) + str(error.filename).removeprefix(str(part)), None
        raise


@contextmanager
def part_of(path: Path, of_folder: bool = False) -> Iterator[Path]:
    """An empty file or folder `.NAME.????????.part` beside what `path` leads to; it is removed when the block
    ends, if it is there still.

    This process, and those that it forks, hold its lock. Parts that no process holds are of processes that
    were killed, and are removed first; where the file system has no locks they stay. An OSError names `path`
    instead of the part.
    """
    target = Path(os.path.realpath(path))
    remove_abandoned(target)
    part = target.with_name(f".{target.name[:BEGINNING]}.{secrets.token_hex(4)}.part")
    lock = None
    with errors_naming(path, part):
        try:  # from the beginning: a signal may come as soon as the part is there
            lock = make_locked(part, of_folder)
            yield part
        finally:
            remove(part)
            if lock is not None:
                os.close(lock)


def make_locked(part: Path, of_folder: bool) -> int:
    """Make a part; returns what holds its lock until it is closed."""
    while True:
        part.mkdir() if of_folder else part.touch(exist_ok=False)
        with suppress(FileNotFoundError):  # another process took it for abandoned before it had its lock
            lock = open_to_lock(part)
            with suppress(OSError):
                wait_for_lock(lock)
            if part.exists():
                return lock
            os.close(lock)


@contextmanager
def hold_lock(part: Path) -> Iterator[None]:
    """Hold the lock of a folder that the block, or what it called, may have put in the place of the first."""
    with opened_to_lock(part) as lock:
        with suppress(OSError):
            try_lock(lock)  # in vain where it is the first, whose lock is held already
        yield


def remove_abandoned(target: Path) -> None:
    """Remove the parts of what is at `target` that no process holds."""
    for part in target.parent.glob(glob.escape(f".{target.name[:BEGINNING]}.") + "????????.part"):
        with suppress(OSError), opened_to_lock(part) as lock:
            if try_lock(lock):
                remove(part)


def put_in_place(part: Path, folder: Path) -> None:
    """Rename a part to what `folder` leads to; a folder that is there is moved aside before, and removed
    afterwards.
    """
    target = os.path.realpath(folder)
    try:
        os.rename(part, target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        with part_of(folder, of_folder=True) as old:
            try:
                os.rename(target, old)
            except FileNotFoundError:
                pass  # another process has moved it
            except OSError:
                shutil.rmtree(target)  # in a lower layer of a container, where folders cannot be moved
            try:
                put_in_place(part, folder)
            except BaseException:
                with suppress(OSError):
                    os.rename(old, target)
                raise


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
