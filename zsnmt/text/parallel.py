"""A function on every line of a text, in several processes and in order."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread

_CHUNK = 500  # lines that travel together

_function: Callable[[str], str]  # of a worker process, given to it once


def map_lines(function: Callable[[str], str], lines: Iterable[str], workers: int = 1) -> Iterator[str]:
    """What `map(function, lines)` gives, from so many processes; one is this process itself.

    A few chunks of lines are in memory at a time. What the function raises is raised here, and
    BrokenProcessPool when a process ends before its work.
    """
    if workers == 1:
        yield from map(function, lines)
        return
    lines = iter(lines)
    pool = ProcessPoolExecutor(workers, get_context("fork"), _start, (function,))
    waiting = deque()
    try:
        while chunk := list(islice(lines, _CHUNK)):
            waiting.append(pool.submit(_apply, chunk))
            if len(waiting) > 2 * workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _start(function: Callable[[str], str]) -> None:
    global _function
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process hears it too, and ends the workers
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose main process was killed would wait for work for ever."""
    parent_process().join()
    os._exit(1)


def _apply(chunk: list[str]) -> list[str]:
    return [_function(line) for line in chunk]
