"""The server under load, against its engine alone."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter
from typing import NamedTuple

import numpy as np

from zsnmt.benchmarks.paired import ratios, warn_if_busy
from zsnmt.decoding.options import FLOAT32, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError, counted
from zsnmt.processes import used_seconds
from zsnmt.report.table import MISSING
from zsnmt.serving.systems import open_systems
from zsnmt.text.lines import read_lines

ALONE = "the engine alone"
GREETING = re.compile(r" at http://([^:]+):(\d+);")  # in the server's greeting
PATIENCE = 600  # seconds


class Address(NamedTuple):
    """Where a server answers."""

    host: str
    port: int


def serving(
    *,
    run: Path,
    source: str,
    to: str,
    text: Path,
    clients: Sequence[int],
    requests: int,
    rounds: int,
    beam: int,
    engine: str | None,
    precision: str | None,
    workers: int | None,
) -> Iterator[str]:
    """A table of requests a second, of seconds until the answer, and of what a request takes of the
    processors, by the number of clients that ask at once; a request is a line of a text. The engine alone
    gets all lines in one call.
    """
    if min(requests, rounds, *clients) < 1:
        raise InputError("there is nothing to measure; give --clients, --requests and --rounds of 1 or more")
    warn_if_busy()
    choice = EngineChoice(engine, precision, workers)
    (system,) = open_systems([run], Search(beam), choice).values()
    system.legs(source, to)
    lines = [*islice(cycle(read_lines(text)), requests)]
    bodies = [json.dumps({"q": line, "source": source, "target": to}).encode() for line in lines]
    speeds: dict[str, list[float]] = {ALONE: []}
    waits: dict[str, list[float]] = {}
    work: dict[str, list[float]] = {ALONE: []}
    system.translator.translate(lines[:64], to, source)
    words = engine_words(beam=beam, engine=engine, precision=precision, workers=workers)
    with server(run, words) as (address, pid):
        under_load(address, bodies[:64], clients=8)
        for _ in range(rounds):
            begin, used = perf_counter(), used_seconds()
            system.translator.translate(lines, to, source)
            speeds[ALONE].append(requests / (perf_counter() - begin))
            work[ALONE].append((used_seconds() - used) / requests)
            for number in dict.fromkeys(clients):
                title = counted(number, "client")
                used = seconds_of(pid)
                seconds, found = under_load(address, bodies, number)
                work.setdefault(title, []).append((seconds_of(pid) - used) / requests)
                speeds.setdefault(title, []).append(requests / seconds)
                waits.setdefault(title, []).extend(found)
    about = f"{requests} requests of a line, {rounds} rounds, beam {beam}"
    yield f"\n{run}, {source} to {to}, {system.translator.signature or FLOAT32}: {about}:\n"
    yield (
        "| asked by | requests/s (median) | ratio to the engine alone: median (range) | "
        "seconds until the answer: median | 99 % | processor's ms of a request: median |"
    )
    yield "|---|---:|---:|---:|---:|---:|"
    for title, (middle, low, high) in ratios(speeds, ALONE).items():
        wait = [f"{np.percentile(waits[title], share):.3f}" for share in (50, 99) if title in waits]
        yield (
            f"| {title} | {median(speeds[title]):.1f} | {middle:.2f} ({low:.2f}–{high:.2f}) | "
            f"{' | '.join(wait or [MISSING, MISSING])} | {1000 * median(work[title]):.1f} |"
        )


def seconds_of(pid: int) -> float:
    """The seconds of processors that a process has used, as `used_seconds` counts them."""
    _, _, fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")
    return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def engine_words(**given: object) -> list[str]:
    """The options of the command that serves so."""
    return [f"--{name}={value}" for name, value in given.items() if value is not None]


@contextmanager
def server(run: Path, options: Sequence[str]) -> Iterator[tuple[Address, int]]:
    """Where a server of a run answers, and its process, which is one of its own."""
    command = [sys.executable, "-m", "zsnmt", "serve", str(run), "--port=0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said = []
            for line in process.stderr:
                said.append(line)
                if greeting := GREETING.search(line):
                    break
            else:
                raise InputError(f"the server does not start: {''.join(said).strip()}")
            Thread(target=process.stderr.read, daemon=True).start()  # so that it can go on writing
            yield Address(greeting[1], int(greeting[2])), process.pid
        finally:
            process.terminate()


def under_load(address: Address, bodies: Sequence[bytes], clients: int) -> tuple[float, list[float]]:
    """Seconds until so many clients, who ask one request after another, have all answers; and the seconds
    that each waited. `InputError` for a request that fails.
    """
    waiting = iter(bodies)

    def ask(_: int) -> list[float]:
        connection, found = HTTPConnection(*address, timeout=PATIENCE), []
        for body in waiting:  # shared by all
            begin = perf_counter()
            connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = response.read()
            if response.status != 200:
                raise InputError(f"the server refuses what it is measured with: {answer.decode()}")
            found.append(perf_counter() - begin)
        connection.close()
        return found

    begin = perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        found = [wait for waits in pool.map(ask, range(clients)) for wait in waits]
    return perf_counter() - begin, found
