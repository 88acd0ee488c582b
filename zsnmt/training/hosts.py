"""Hosts that train together: the first tells the others what to start, and each hears when another is gone.

They prove to each other that they share the folder of runs: the first writes a secret there while they meet.
"""

import fcntl
import os
import secrets
import socket
import struct
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import answer_challenge, deliver_challenge
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.replacing import replacing
from zsnmt.training.connections import Line, Lost
from zsnmt.training.team import Team

PATIENCE = 600.0  # seconds until all hosts have met
HANDSHAKE = 10  # seconds that a stranger may hold up those who come to meet
SIOCGIFADDR = 0x8915  # of Linux: the address of a network interface


class Refused(InputError):
    """The first host does not want another."""


# multiprocessing.connection raises the last one for what is not a challenge.
HANDSHAKE_ERRORS = (Lost, AuthenticationError, EOFError, OSError, AssertionError)


def meet(team: Team, folder: Path) -> tuple[Line, ...]:
    """The lines from the first host to all others, in their order, when all have come with their number and
    as many processes.

    `folder` is shared by all. Raises `InputError` for an address that is not of this host, and where a host
    does not come.
    """
    lines: dict[int, Line] = {}
    file, key, end = key_file(team, folder), secrets.token_bytes(32), time.monotonic() + PATIENCE
    try:
        server = socket.create_server(team.address)
    except OSError as error:
        raise InputError(
            f"the hosts cannot meet at {team.meet} ({error}); give an address of this host, which is the "
            "first, and a port that is free"
        ) from error
    folder.mkdir(parents=True, exist_ok=True)
    with server:
        refuse_own_name(server, team)
        try:
            with replacing(file) as written:
                os.chmod(written.fileno(), 0o600)
                written.write(key)
            while len(lines) < team.hosts - 1:
                server.settimeout(max(end - time.monotonic(), 0.01))
                with suppress(*HANDSHAKE_ERRORS):
                    admit(accept_connection(server, team, lines), key, team, lines=lines)
        finally:
            file.unlink(missing_ok=True)
    return tuple(lines[number] for number in sorted(lines))


def say_over(lines: Sequence[Line]) -> None:
    """Tell the other hosts that there is nothing left to do; else they take it that the first has failed."""
    for line in lines:
        with suppress(Lost):
            line.send(over=True)


def refuse_own_name(server: socket.socket, team: Team) -> None:
    """`InputError` where the name that hosts meet at stands, on this one, for an address that no other
    reaches.
    """
    (name, _), (bound, *_) = team.address, server.getsockname()
    if bound.startswith("127.") and name != "localhost" and not name.startswith("127."):
        raise InputError(
            f"{name} is {bound} here, where no other host comes, as /etc/hosts has it; give --meet an "
            "address of this host in numbers, as hostname -I shows them, on all hosts"
        )


def accept_connection(server: socket.socket, team: Team, lines: Collection[int]) -> socket.socket:
    """The next connection; `InputError` where none comes in time."""
    try:
        return server.accept()[0]
    except TimeoutError as error:
        missing = [str(number) for number in range(1, team.hosts) if number not in lines]
        raise InputError(
            f"host {', '.join(missing)} has not come to {team.meet} within {PATIENCE / 60:.0f} minutes; "
            "start the same command there, with its --host"
        ) from error


def admit(connected: socket.socket, key: bytes, team: Team, *, lines: dict[int, Line]) -> None:
    """Add the line to a host that knows the secret and is one that is waited for; tell another why it is
    not.
    """
    line = Line(limit_waiting(connected, HANDSHAKE), 0)
    deliver_challenge(line.connection, key)
    answer_challenge(line.connection, key)
    if (said := line.receive(HANDSHAKE)) is None:
        return
    line.number = said["host"]
    refused = ""
    if (said["processes"], said["hosts"]) != (team.processes, team.hosts):
        refused = (
            f"it starts {said['processes']} processes as one of {said['hosts']} hosts, and the first host "
            f"{team.processes} as one of {team.hosts}"
        )
    elif line.number in lines and not lines[line.number].lost():
        refused = f"host {line.number} is there already"
    line.send(refused=refused)
    if not refused:
        lines[line.number] = line


def reach(team: Team, folder: Path) -> Line:
    """The line to the first host; `InputError` where it is not there, or does not want this one."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(*HANDSHAKE_ERRORS):
            key = key_file(team, folder).read_bytes()
            line = Line(
                limit_waiting(socket.create_connection(team.address, timeout=HANDSHAKE), HANDSHAKE), 0
            )
            answer_challenge(line.connection, key)
            deliver_challenge(line.connection, key)
            line.send(host=team.host, hosts=team.hosts, processes=team.processes)
            if (answer := line.receive(HANDSHAKE)) is None:
                raise TimeoutError("the first host does not answer in time")
            if refused := answer.get("refused"):
                raise Refused(
                    f"the first host does not take this one: {refused}; give all the same command, but for "
                    "--host"
                )
            return line
        time.sleep(0.5)
    raise InputError(
        f"there is no first host at {team.meet}, or it does not share {folder}; start the same command there "
        "with --host 0, and see that RUNS is one folder for all hosts"
    )


def limit_waiting(connected: socket.socket, seconds: int) -> socket.socket:
    """A connection whose reads fail after so long."""
    connected.settimeout(None)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", seconds, 0))
    return connected


def key_file(team: Team, folder: Path) -> Path:
    """Where the hosts that meet somewhere have their secret."""
    return folder / f".meeting-{team.meet.replace(':', '-')}"


def free_port(address: str) -> int:
    """A port that no one uses."""
    with socket.create_server((address, 0)) as server:
        return server.getsockname()[1]


def interface_of(address: str) -> str | None:
    """The network interface that has an address, by which processes are to reach each other: the system's
    name may stand for another address, or none. None where that is not known.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            with suppress(OSError):
                found = fcntl.ioctl(asked, SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                if socket.inet_ntoa(found[20:24]) == address:
                    return name
    return None
