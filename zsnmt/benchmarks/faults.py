"""A server under requests of which most are wrong in one way or another: how they are answered, and what
they leave behind.
"""

import json
import os
import random
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from zsnmt.benchmarks.serving import PATIENCE, Address, engine_words, server
from zsnmt.errors import InputError
from zsnmt.runs.folder import check_knows
from zsnmt.text.lines import read_lines

MOST = 5  # lines in a request
TOO_LARGE = 11_000  # characters, more than the server takes
GIVEN_UP = 0  # in place of a status: the client does not wait for it
IDLE = "zsnmt_queue_lines 0.0"  # of the metrics


class Kind(NamedTuple):
    """Requests that are wrong in a way, or right: the body of one with some lines, and how it is answered."""

    name: str
    body: Callable[[Sequence[str]], bytes]
    status: int
    sent: float = 1.0  # the share of the body that is sent before the client leaves


def faults(
    *,
    run: Path,
    source: str,
    to: str,
    text: Path,
    clients: int,
    requests: int,
    seed: int,
    beam: int,
    engine: str | None,
    precision: str | None,
    workers: int | None,
) -> Iterator[str]:
    """A table of the kinds of requests, sent in a random order, and how they were answered; then the memory
    and the open files of the server after a tenth of them, after half and in the end.
    """
    if requests < 10 or clients < 1:
        raise InputError("there is nothing to measure; give --clients of 1 and --requests of 10 or more")
    check_knows(run, source, to)
    kinds, lines, chance = kinds_of(source, to), read_lines(text), random.Random(seed)
    sent = [
        (kind, kind.body(chance.choices(lines, k=chance.randint(2, MOST))))
        for kind in chance.choices(kinds, k=requests)
    ]
    answered: Counter[tuple[str, bool]] = Counter()
    sizes = []
    words = engine_words(beam=beam, engine=engine, precision=precision, workers=workers)
    with server(run, words) as (address, pid):
        for part in (sent[: requests // 10], sent[requests // 10 : requests // 2], sent[requests // 2 :]):
            with ThreadPoolExecutor(clients) as pool:
                found = pool.map(lambda request: send(address, *request), part)
                answered.update((kind.name, status == kind.status) for (kind, _), status in zip(part, found))
            wait_until_idle(address)
            sizes.append(size_of(pid))
    yield f"\n{run}, {source} to {to}: {requests} requests by {clients} clients, seed {seed}:\n"
    yield "| request | number | status | answered otherwise, or not at all |"
    yield "|---|---:|---:|---:|"
    for kind in kinds:
        wrong, number = answered[kind.name, False], answered[kind.name, False] + answered[kind.name, True]
        yield f"| {kind.name} | {number} | {kind.status or 'nobody waits'} | {wrong} |"
    memory, files = (" – ".join(str(each) for each in sizes_of) for sizes_of in zip(*sizes))
    yield f"\nAfter a tenth, after half, in the end: memory {memory} MB, open files {files}."


def kinds_of(source: str, to: str) -> list[Kind]:
    """Requests to translate from a language into another, two kinds of which are right."""

    def asks(q: object, target: str = to) -> bytes:
        return json.dumps({"q": q, "source": source, "target": target}).encode()

    return [
        Kind("a line", lambda lines: asks(lines[0]), 200),
        Kind(f"2–{MOST} lines", asks, 200),
        Kind("too large", lambda lines: asks(lines[0][:1] * TOO_LARGE), 413),
        Kind("not JSON", lambda lines: asks(lines[0])[:-5], 400),
        Kind("no text", lambda lines: asks(len(lines)), 400),
        Kind("an unknown language", lambda lines: asks(lines[0], "a language"), 400),
        Kind("a client that leaves", asks, GIVEN_UP),
        Kind("a client that leaves half-way", asks, GIVEN_UP, sent=0.5),
    ]


def send(address: Address, kind: Kind, body: bytes) -> int | None:
    """The status of the answer to a request; None where none came."""
    head = f"POST /translate HTTP/1.1\r\nHost: {address.host}\r\nContent-Length: {len(body)}\r\n\r\n"
    if kind.status == GIVEN_UP:
        with socket.create_connection(address, PATIENCE) as wire:
            wire.sendall(head.encode() + body[: int(kind.sent * len(body))])
        return GIVEN_UP
    connection = HTTPConnection(*address, timeout=PATIENCE)
    try:
        connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        return response.status
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


def wait_until_idle(address: Address) -> None:
    """Returns when no line waits to be translated; `InputError` where that takes too long."""
    end = monotonic() + PATIENCE
    while monotonic() < end:
        connection = HTTPConnection(*address, timeout=PATIENCE)
        connection.request("GET", "/metrics")
        if IDLE in connection.getresponse().read().decode():
            return connection.close()
        connection.close()
        sleep(0.1)
    raise InputError(f"the server still has lines to translate after {PATIENCE} seconds")


def size_of(pid: int) -> tuple[int, int]:
    """The memory of a process in MB, and how many files it has open."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None, status
    return round(int(found[1]) / 1000), len(os.listdir(f"/proc/{pid}/fd"))
