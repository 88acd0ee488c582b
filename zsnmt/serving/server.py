"""The process that serves: its socket, how it is stopped, and what it says."""

import logging
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from zsnmt.console import STOPPING
from zsnmt.errors import InputError

LAST_PORT = 65_535
PATIENCE = 5  # seconds beyond the limit of a request until the server ends without an answer


def bind(host: str, port: int) -> socket.socket:
    """A socket at an address, which nobody can reach yet; `InputError` for one that cannot be had."""
    if not 0 <= port <= LAST_PORT:
        raise InputError(f"--port is {port}; it must be from 0 to {LAST_PORT}")
    reason: Exception | None = None
    try:
        for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE):
            try:
                return bound(found)
            except OSError as error:  # a name may have an address of a kind that this machine does not use
                reason = reason or error
    except (OSError, UnicodeError) as error:  # the latter for what is no name of a host
        reason = error
    raise taken(host, port, reason) from reason


def taken(host: str, port: int, reason: Exception | None) -> InputError:
    """What is said of an address that cannot be had."""
    return InputError(f"port {port} of {host} cannot be had ({reason}); give another --port or --host")


def bound(found: tuple) -> socket.socket:
    """A socket that is bound to one of the addresses of a host, as `getaddrinfo` describes it."""
    family, kind, protocol, _, address = found
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except BaseException:
        listener.close()
        raise
    return listener


def address(listener: socket.socket) -> str:
    """The address of a socket, as a browser takes it."""
    host, port, *_ = listener.getsockname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def settings(app: FastAPI, seconds: float, prefix: str = "") -> uvicorn.Config:
    """How an application is served whose requests take at most so many seconds; a web server that has it
    below a `prefix`, such as /mt, passes on what stands behind that.
    """
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        root_path=prefix,
        timeout_graceful_shutdown=int(seconds + PATIENCE),
    )


class Server(uvicorn.Server):
    """Ends when it is told to, after it has answered what it has; told again, at once."""

    def __init__(self, config: uvicorn.Config, greeting: str) -> None:
        super().__init__(config)
        self.greeting, self.should_exit, self.force_exit = greeting, False, False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(self.greeting, file=sys.stderr, flush=True)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        handled = [number for number in STOPPING if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, self.stop) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Ends the server; the second time without answers."""
        if self.should_exit:
            self.force_exit = True
            logging.getLogger("uvicorn.error").disabled = True  # what is cut off is no error
        self.should_exit = True


def serve(
    app: FastAPI, listener: socket.socket, *, seconds: float, names: Sequence[str], prefix: str = ""
) -> None:
    """Serve an application at a socket until a signal ends the process; `InputError` for an address that
    another process has begun to serve at since it was bound.
    """
    try:
        listener.listen()
    except OSError as error:
        host, port, *_ = listener.getsockname()
        raise taken(host, port, error) from error
    greeting = f"{'; '.join(names)}: at {address(listener)}; Ctrl-C or SIGTERM ends the server"
    Server(settings(app, seconds, prefix), greeting).run(sockets=[listener])
