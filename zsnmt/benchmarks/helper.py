"""A process of its own for each thing that is measured, so that threads and memory of one do not disturb
the next.
"""

from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

R = TypeVar("R")


class Helper(Generic[R]):
    """A process that prepares a job, `prepare(*arguments)`, and does it whenever it is called.

    It begins with what this process has in memory, which must not have used several threads before. What it
    raises is raised here, and BrokenExecutor when it ends before its work. Of several, the last is to be left
    first.
    """

    def __init__(self, prepare: Callable[..., Callable[[], R]], *arguments: object) -> None:
        context = get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(self.pipe, theirs, prepare, arguments))
        self.process.start()
        theirs.close()
        self._answer()

    def __call__(self) -> R:
        with suppress(BrokenPipeError):  # it has ended, as the answer says
            self.pipe.send(None)
        return self._answer()

    def __enter__(self) -> "Helper[R]":
        return self

    def __exit__(self, *error: object) -> None:
        self.pipe.close()  # which ends it
        self.process.join()

    def _answer(self) -> R:
        try:
            found = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            found = BrokenExecutor("the process ended before its work")
        if isinstance(found, Exception):
            self.__exit__()
            raise found
        return found


def serve(
    ours: Connection, pipe: Connection, prepare: Callable[..., Callable[[], R]], arguments: tuple
) -> None:
    ours.close()  # else it would not end with the other
    try:
        job = prepare(*arguments)
        pipe.send(None)
        while True:
            pipe.recv()
            pipe.send(job())
    except (EOFError, KeyboardInterrupt):
        pass  # the main process has ended, or was told to
    except Exception as error:
        pipe.send(error)
