"""The server's addresses: LibreTranslate's, the page, and those for who looks after it."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from babel import Locale
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import StarletteHTTPException
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.requests import ClientDisconnect

from zsnmt.documents.formats import readable_formats
from zsnmt.errors import InputError
from zsnmt.languages import AUTO
from zsnmt.runs.ways import DIRECT
from zsnmt.serving.access import Rate, check_key
from zsnmt.serving.batcher import Batcher
from zsnmt.serving.limits import Limits
from zsnmt.serving.metrics import Metrics
from zsnmt.serving.middleware import HeadAsGet, Measured
from zsnmt.serving.refusals import (
    BAD,
    BUSY,
    FAILED,
    FORBIDDEN,
    GONE,
    MISSING,
    RETRY,
    Gone,
    Refused,
    until_cancelled,
)
from zsnmt.serving.requests import (
    Asked,
    AskedDocument,
    Detection,
    File,
    read_document,
    read_request,
    schema,
    upload_schema,
)
from zsnmt.serving.service import Service
from zsnmt.serving.systems import System
from zsnmt.serving.uploads import Parcels
from zsnmt.text.iso_639 import TWO_LETTERS

POLICY = (  # of what the page may load: itself
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
FORM_ROOM = 65_536  # bytes of a form beside its file
ENGLISH = Locale("en").languages


def application(
    systems: Mapping[str, System], limits: Limits, keys: Collection[str] = (), origins: Collection[str] = ()
) -> FastAPI:
    """The server of some systems, for clients with one of the keys if there are any, and for pages of other
    `origins`.

    Its translator thread begins with it; `app.state.batcher` is closed when it ends.
    """
    metrics = Metrics()
    batcher = Batcher(limits, metrics)
    door = Door(Service(systems, limits, batcher), Rate(limits.rate), keys, parcels=Parcels(limits.upload))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(batcher.close)

    app = FastAPI(title="zsnmt", version=version("zsnmt"), docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.batcher = batcher
    serve_clients(app, door)
    serve_page(app, door)
    serve_operators(app, door, metrics)
    handle_errors(app)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[*origins],
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
            expose_headers=["Retry-After"],
        )
    app.add_middleware(Measured, metrics=metrics)
    app.add_middleware(HeadAsGet)
    return app


@dataclass(frozen=True)
class Door:
    """Who may ask a service, and how often."""

    service: Service
    rate: Rate
    keys: Collection[str]
    parcels: Parcels

    async def read(self, request: Request, model: type) -> Any:
        """What a client asks for; `Refused` for one that may not ask, and for what cannot be read."""
        self.rate.check(request.client.host if request.client else "")
        limits = self.service.limits
        asked = await read_request(request, model, most=limits.body, seconds=limits.seconds)
        check_key(asked.api_key or bearer(request), self.keys)
        return asked

    async def read_document(self, request: Request) -> tuple[AskedDocument, File]:
        """The same of a document that a client sends; `Refused` where the server takes none."""
        self.rate.check(request.client.host if request.client else "")
        limits = self.service.limits
        if not limits.document:
            raise Refused(FORBIDDEN, "this server takes no documents; send text to /translate")
        asked, file = await read_document(request, limits.upload + FORM_ROOM, seconds=limits.seconds)
        check_key(asked.api_key or bearer(request), self.keys)
        return asked, file


def serve_clients(app: FastAPI, door: Door) -> None:
    """Adds the addresses of LibreTranslate's clients."""

    @app.post("/translate", openapi_extra=schema(Asked))
    async def translate(request: Request) -> JSONResponse:
        """Translations of a text, of several, or of one into several languages."""
        with until_cancelled():
            asked = await door.read(request, Asked)
            return JSONResponse(await door.service.translate(asked, lambda: disconnected(request)))

    @app.post("/translate_file", openapi_extra=upload_schema())
    async def translate_file(request: Request) -> JSONResponse:
        """The address of a document in another language, where it waits ten minutes."""
        with until_cancelled():
            asked, file = await door.read_document(request)
            made = await door.service.translate_document(asked, file, lambda: disconnected(request))
        number, name = door.parcels.keep(made), quote(made.name, safe="")
        address = request.url_for("download_file", number=number, name=name)
        return JSONResponse({"translatedFileUrl": str(address)})

    @app.get("/download_file/{number}/{name}", name="download_file", include_in_schema=False)
    async def download_file(number: str, name: str) -> Response:
        made = door.parcels.fetch(number)
        if made is None:
            return refusal(MISSING, "this document is not here any more; send it again")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(made.name, safe='')}",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(made.content, media_type="application/octet-stream", headers=headers)

    @app.post("/detect", openapi_extra=schema(Detection))
    async def detect(request: Request) -> JSONResponse:
        """The languages that a text may be in, the surest first."""
        return JSONResponse(await door.service.detect(await door.read(request, Detection)))

    @app.get("/languages")
    async def languages(system: str | None = None) -> JSONResponse:
        """The languages of a system, and into which each is translated."""
        return JSONResponse(languages_of(door.service.system(system)))


def serve_page(app: FastAPI, door: Door) -> None:
    """Adds the page to try the systems, and what it needs to know."""

    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        text = files("zsnmt.serving").joinpath("page.html").read_text(encoding="utf-8")
        return HTMLResponse(text, headers={"Content-Security-Policy": POLICY})

    @app.get("/frontend/settings")
    async def settings() -> JSONResponse:
        """What a page needs to know: LibreTranslate's settings, and the systems."""
        _, second, *_ = languages_of(door.service.system(None))
        languages = {
            "source": {"code": AUTO, "name": "Auto Detect"},
            "target": {name: second[name] for name in ("code", "name")},
        }
        return JSONResponse(
            {
                "apiKeys": bool(door.keys),
                "keyRequired": bool(door.keys),
                "charLimit": door.service.limits.characters,
                "frontendTimeout": 500,
                "filesTranslation": bool(door.service.limits.document),
                "documentLimit": door.service.limits.document,
                "supportedFilesFormat": readable_formats() if door.service.limits.document else [],
                "suggestions": False,
                "language": languages,
                "systems": [*map(description, door.service.systems.values())],
            }
        )


def serve_operators(app: FastAPI, door: Door, metrics: Metrics) -> None:
    """Adds the addresses for those who look after the server."""

    @app.get("/health")
    async def health() -> JSONResponse:
        """Whether the server translates."""
        if door.service.batcher.is_working:
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "stopping"}, BUSY)

    @app.get("/metrics")
    async def figures(request: Request) -> PlainTextResponse:
        """What Prometheus reads."""
        check_key(bearer(request), door.keys)
        return PlainTextResponse(metrics.text())


# Errors, in JSON


def handle_errors(app: FastAPI) -> None:
    """Answers each error with its status and a sentence."""

    @app.exception_handler(InputError)
    async def wrong(request: Request, error: InputError) -> JSONResponse:
        if isinstance(error, Refused):
            return refusal(error.status, str(error), retry=error.retry)
        return refusal(BAD, str(error))

    @app.exception_handler(StarletteHTTPException)
    async def unknown(request: Request, error: StarletteHTTPException) -> JSONResponse:
        message = f"{request.method} {request.url.path}: {error.detail.lower()}"
        return refusal(error.status_code, message, error.headers)  # such as those that name methods

    @app.exception_handler(Gone)
    @app.exception_handler(ClientDisconnect)
    async def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=GONE)  # which nobody reads

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        return refusal(FAILED, "the server failed; its log says why")


def refusal(
    status: int, message: str, headers: Mapping[str, str] | None = None, *, retry: int = 1
) -> JSONResponse:
    """An error in LibreTranslate's form; `retry`: seconds until what may succeed later is asked again."""
    if status in RETRY:
        headers = {"Retry-After": str(retry)}
    return JSONResponse({"error": message.encode(errors="replace").decode()}, status, headers)


# Requests


def bearer(request: Request) -> str | None:
    """The key in a request's header."""
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if kind.lower() == "bearer" else None


async def disconnected(request: Request) -> None:
    """Returns when the client of a request that was read has closed its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# Systems


def languages_of(system: System) -> list[dict[str, Any]]:
    """The languages of a system in LibreTranslate's form."""
    return [
        {
            "code": language,
            "name": ENGLISH.get(language) or ENGLISH.get(TWO_LETTERS.get(language, ""), language),
            "targets": [other for other in system.languages if other != language],
        }
        for language in system.languages
    ]


def description(system: System) -> dict[str, Any]:
    """What the page knows of a system."""
    return {
        "name": system.name,
        "languages": languages_of(system),
        "pivot": system.translator.pivot,
        "ways": [*system.ways],
        "way": system.way or DIRECT.name,
        "via": system.via,
        "detects": system.detector is not None,
    }
