"""A web server on this machine that serves bytes and misbehaves as told."""

import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Served:
    """A file, and whether ranges, their conditions and sizes are known; each request uses up a cut and a
    status. Without sizes it may be sent in chunks, and endless is a file that is sent again and again.
    """

    body: bytes
    tag: str | None = '"one"'
    ranges: bool = True
    conditions: bool = True
    sizes: bool = True
    chunked: bool = False
    endless: bool = False
    kind: str = "application/octet-stream"
    cuts: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)


class FileServer(ThreadingHTTPServer):
    """`files`: what is served by name. `requests`: name and headers of all that were asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, Served] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def names(self) -> list[str]:
        return [name for name, _ in self.requests]

    def ranges(self) -> list[str | None]:
        return [headers.get("Range") for _, headers in self.requests]


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        self.server.requests.append((name, dict(self.headers)))
        served = self.server.files.get(name)
        if served is None:
            return self.send_error(404)
        if served.statuses:
            return self.send_error(served.statuses.pop(0))
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = not served.conditions or self.headers.get("If-Range") == served.tag
        start = int(asked[1]) if asked and served.ranges and same else 0
        if start >= len(served.body) > 0:
            return self.send_error(416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(served.body) - 1}/{len(served.body)}")
        self.send_header("Content-Type", served.kind)
        if served.tag:
            self.send_header("ETag", served.tag)
        if served.sizes:
            self.send_header("Content-Length", str(len(served.body) - start))
        if served.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        body = served.body[start : served.cuts.pop(0) if served.cuts else None]
        if served.chunked:
            body = b"%x\r\n%s\r\n" % (len(body), body) + b"0\r\n\r\n" * (
                start + len(body) == len(served.body)
            )
        self.wfile.write(body)
        with suppress(ConnectionError):
            while served.endless:
                self.wfile.write(body)

    def log_message(self, *arguments) -> None:
        pass
