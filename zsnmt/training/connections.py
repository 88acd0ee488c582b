"""Connections between hosts that train together, which notice when one is gone."""

import json
import socket
from multiprocessing.connection import Connection
from typing import Any

from zsnmt.errors import PassingError

SILENCE = 25  # seconds of a host that is off, or of a network that is down, until it counts as gone


class Lost(PassingError):
    """A host has ended, or cannot be reached any more."""


class Line:
    """The connection to another host, which counts as gone when it has been silent for `SILENCE`: the system
    asks it from time to time whether it is there.

    `here` is the address of this host on the way to it.
    """

    def __init__(self, connected: socket.socket, number: int) -> None:
        silence = {socket.TCP_KEEPIDLE: 10, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in {**silence, socket.TCP_USER_TIMEOUT: SILENCE * 1000}.items():
            connected.setsockopt(socket.IPPROTO_TCP, option, value)
        self.here, self.there = connected.getsockname()[0], connected.getpeername()[0]
        self.number, self.connection = number, Connection(connected.detach())

    @property
    def name(self) -> str:
        """How a person is told of the other host."""
        return f"host {self.number} ({self.there})"

    def send(self, **message: Any) -> None:
        """Tell the other host; raises `Lost`."""
        try:
            self.connection.send_bytes(json.dumps(message).encode())
        except OSError as error:
            raise Lost(f"{self.name} is gone ({error})") from error

    def lost(self) -> bool:
        """Whether the other host, which has nothing to say yet, has ended."""
        try:
            self.receive(0)
        except Lost:
            return True
        return False

    def receive(self, seconds: float | None) -> dict[str, Any] | None:
        """What the other host says, or None if it says nothing for so long; raises `Lost`."""
        try:
            return json.loads(self.connection.recv_bytes()) if self.connection.poll(seconds) else None
        except (EOFError, OSError) as error:
            raise Lost(f"{self.name} has ended, or cannot be reached any more") from error
