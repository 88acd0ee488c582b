"""Servers on this machine: a translator that does as it is told, and a client that sends what it is told."""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

import tests.support.serving_extra  # noqa: F401  (first: it skips where a package is missing)
from zsnmt.decoding.methods.settings import Method
from zsnmt.errors import InputError
from zsnmt.inference.translation import Translation
from zsnmt.inference.translator import Line
from zsnmt.languages import Direction, check_known
from zsnmt.runs.folder import kinds
from zsnmt.serving.application import application
from zsnmt.serving.detection import NaturalDetector
from zsnmt.serving.limits import Limits
from zsnmt.serving.server import bind, settings
from zsnmt.serving.systems import System

GERMAN = "Das ist ein ziemlich langer deutscher Satz über das Wetter von gestern."
FRENCH = "Voici une phrase française assez longue sur le temps qu'il faisait hier."


class ToldTranslator:
    """Writes the direction before a text. Its texts may tell it to fail, or to wait until `go` is set; it
    notes what it was given together, in `batches`.
    """

    languages, pivot = ["en", "de", "fr"], "en"
    trained = [Direction("en", "de"), Direction("de", "en"), Direction("en", "fr"), Direction("fr", "en")]
    engine = None

    def __init__(self, method: Method | None = None) -> None:
        self.method = method
        self.batches: list[list[str]] = []
        self.go = threading.Event()

    def legs(self, source: str, target: str, via: str | None) -> list[Direction]:
        if source == target:
            raise InputError(f"source and target are both '{target}'")
        if self.method and self.method.several and via:
            raise InputError(f"a translation by {self.method.name} goes through no other language")
        stops = [check_known(each, self.languages) for each in (source, via, target) if each is not None]
        return [Direction(*pair) for pair in zip(stops, stops[1:])]

    def n_best(self, lines: Sequence[Line]) -> list[list[Translation]]:
        self.batches.append([line.text for line in lines])
        for line in lines:
            if "fail" in line.text:
                raise RuntimeError("told to fail")
            if "wait" in line.text:
                self.go.wait(60)
        mark = f"{self.method.name} " if self.method else ""
        return [[told(mark + text) for text in tellings(line)] for line in lines]


def tellings(line: Line) -> list[str]:
    """What it writes, at most four."""
    return [f"{line.direction}{'+' * number}: {line.text}" for number in range(min(line.number, 4))]


def told(text: str) -> Translation:
    """A translation of a token for each character, a quarter of a nat each."""
    return Translation(text, -len(text) / 4, len(text))


def told_system(
    name: str = "told", translator: ToldTranslator | None = None, **ways: ToldTranslator
) -> System:
    """A system whose translator does as it is told, and so do those of some methods."""
    translator = translator or ToldTranslator()
    return System(
        name,
        translator,
        kinds({}, translator.trained),
        detector=NaturalDetector(translator.languages),
        ways=ways,
    )


class Client:
    """Asks a server at a host and port; `app` is the server's application, where it is in this process."""

    def __init__(self, host: str, port: int, app: Any = None) -> None:
        self.host, self.port, self.app = host, port, app
        self.url = f"http://{host}:{port}"

    def ask(
        self, path: str, body: Any = None, headers: Mapping[str, str] = {}, method: str | None = None
    ) -> tuple[int, Any]:
        """Status and JSON of an answer; a body is sent as JSON unless it is bytes."""
        status, text, _ = self.answer(path, body, headers, method)
        return status, json.loads(text)

    def answer(
        self, path: str, body: Any = None, headers: Mapping[str, str] = {}, method: str | None = None
    ) -> tuple[int, str, Mapping[str, str]]:
        """Status, text and headers of an answer."""
        connection = HTTPConnection(self.host, self.port, timeout=120)
        headers = {"Content-Type": "application/json", **headers}
        body = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method or ("GET" if body is None else "POST"), path, body, headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text, dict(response.headers)

    def translate(self, q: Any, source: str = "en", target: Any = "de", **others: Any) -> tuple[int, Any]:
        return self.ask("/translate", {"q": q, "source": source, "target": target, **others})

    def figure(self, name: str) -> float:
        """One of the server's metrics, by its name and labels."""
        lines = self.answer("/metrics")[1].splitlines()
        return next((float(line.split()[-1]) for line in lines if line.startswith(f"{name} ")), 0.0)


@contextmanager
def serving(*systems: System, limits: Limits = Limits(), prefix: str = "", **access: Any) -> Iterator[Client]:
    """A server of some systems, in a thread; `prefix`: of its place on a web server."""
    import uvicorn

    with bind("127.0.0.1", 0) as listener:
        app = application({each.name: each for each in systems}, limits, **access)
        server = uvicorn.Server(settings(app, limits.seconds, prefix))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            wait_until(lambda: server.started)
            yield Client(*listener.getsockname(), app)
        finally:
            for translator in (each for one in systems for each in (one.translator, *one.ways.values())):
                getattr(translator, "go", threading.Event()).set()
            server.should_exit = True
            thread.join(60)
    assert not thread.is_alive() and not app.state.batcher.thread.is_alive()


def wait_until(condition: Any, seconds: float = 60) -> None:
    """Returns when a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.005)
