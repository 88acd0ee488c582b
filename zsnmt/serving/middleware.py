"""What each request to the server passes first: the count and the time of it, and HEAD as GET."""

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zsnmt.serving.metrics import Metrics
from zsnmt.serving.refusals import FAILED

# Those that are counted by themselves.
PATHS = (
    *("/", "/translate", "/translate_file", "/detect", "/languages"),
    *("/frontend/settings", "/health", "/metrics"),
)


class Measured:
    """Counts the requests to an application by path and status, and times them."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        begin, path = time.perf_counter(), path if path in PATHS else "other"

        def count(status: int) -> None:
            self.metrics.requests.labels(path, status).inc()
            self.metrics.seconds.labels(path).observe(time.perf_counter() - begin)

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                count(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, counted)
        except Exception:  # which is answered further out
            count(FAILED)
            raise


class HeadAsGet:
    """Answers HEAD as GET, of which the server sends no body: what watches a server asks so."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)
