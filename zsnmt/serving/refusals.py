"""Why a request is not served."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from zsnmt.errors import InputError

BAD, FORBIDDEN, MISSING, SLOW, TOO_LARGE, UNKNOWN_KIND, TOO_MANY = 400, 403, 404, 408, 413, 415, 429
FAILED, BUSY, LATE = 500, 503, 504
GONE = 499  # as nginx writes it down
RETRY = (TOO_MANY, BUSY)  # which may succeed a little later


class Refused(InputError):
    """A request that is answered with a status of HTTP other than 200, and a sentence; in `retry` seconds it
    may be asked again.
    """

    def __init__(self, status: int, message: str, retry: int = 1) -> None:
        super().__init__(message)
        self.status, self.retry = status, retry


class Gone(Exception):
    """The client has closed its connection: nobody waits for the answer."""


def stopping() -> Refused:
    """The answer of a server that ends to what it cannot do any more."""
    return Refused(BUSY, "the server is stopping; ask again when it is back")


@contextmanager
def until_cancelled() -> Iterator[None]:
    """What is cancelled within, as at the end of a server that has waited long enough, is `Refused`."""
    try:
        yield
    except asyncio.CancelledError:
        raise stopping() from None
