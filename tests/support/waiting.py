"""Waiting for what another process or thread does, and no longer than it may take."""

import time
from collections.abc import Callable
from subprocess import Popen


def wait_for(condition: Callable[[], object], seconds: float = 60, process: Popen | None = None) -> None:
    """Returns when a condition holds; an error where that takes too long, or `process` ends before."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        assert process is None or process.poll() is None or condition(), "the process has ended before"
        time.sleep(0.01)
