"""Folders that take long to make: one for all processes that run tests, made by the first that needs it."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from zsnmt.files.locks import LOCK_FILE


@contextmanager
def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Iterator[Path]:
    """The folder that `make` fills; no test may change a file in it.

    A fixture holds it for a session: the block ends with an error if files are not as they were.
    """
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, done = base / name, base / f"{name}.done"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            folder.mkdir()  # a second attempt after a failed one fails at once
            make(folder)
            done.touch()
    before = files_in(folder)
    yield folder
    changed = {path for path, _ in before ^ files_in(folder)}
    assert not changed, f"tests changed what they share: {', '.join(sorted(map(str, changed)))}"


def files_in(folder: Path) -> set[tuple[Path, tuple[int, int]]]:
    """All files, with their sizes and times, but for locks, in which their owner writes its number."""
    stats = ((path, path.stat()) for path in folder.rglob("*") if path.is_file() and path.name != LOCK_FILE)
    return {(path, (status.st_size, status.st_mtime_ns)) for path, status in stats}
