"""What a client may ask for, in JSON or as a form of either kind, and how it is read."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, Field, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from zsnmt.errors import InputError
from zsnmt.languages import AUTO
from zsnmt.serving.refusals import BAD, SLOW, TOO_LARGE, UNKNOWN_KIND, Refused

JSON, FORM, UPLOAD = KINDS = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",  # which a file needs
)
FIELDS = 1000  # of a form


# Fields that several requests have.
SystemName = Annotated[str | None, Field(description="the name of a system; the first one unless given")]
Stop = Annotated[str | None, Field(description="a language to translate through, or nothing")]
WayName = Annotated[
    str | None,
    Field(description="a method to translate by, of those that the server offers, or direct for none"),
]
Key = Annotated[str | None, Field(description="the key that the server may ask for")]


class Detection(BaseModel):
    """A request for the languages that a text may be in."""

    q: str = Field(description="a text")
    system: SystemName = None
    api_key: Key = None


class Asked(BaseModel):
    """A request for translations: of a text, of several, or of one into several languages."""

    q: str | list[str] = Field(description="a text, or an array of texts")
    source: str = Field(AUTO, description=f"the language of the text, or {AUTO}")
    target: str | list[str] = Field(description="the language to translate into, or an array of languages")
    format: Literal["text", "html"] = Field("text", description="text or html")
    alternatives: int = Field(
        0, ge=0, le=100, description="how many other translations to give, from 0 to 100"
    )
    system: SystemName = None
    via: Stop = None
    way: WayName = None
    confidence: bool = Field(False, description="true or false: to say how sure translations are, too")
    agreement: bool = Field(
        False, description="true or false: to compare translations with those through the pivot, too"
    )
    details: bool = Field(False, description="true or false: to say how it was translated, too")
    api_key: Key = None

    @property
    def texts(self) -> list[str]:
        """What is to be translated."""
        return [self.q] if isinstance(self.q, str) else self.q

    @property
    def targets(self) -> list[str]:
        """The languages to translate into."""
        return [self.target] if isinstance(self.target, str) else self.target

    @property
    def has_several_texts(self) -> bool:
        """Whether it has an array of texts, even one of one text."""
        return not isinstance(self.q, str)

    @property
    def has_several_targets(self) -> bool:
        """Whether it has an array of languages to translate into."""
        return not isinstance(self.target, str)


class AskedDocument(BaseModel):
    """A request for the translation of a document, which is the file of a form."""

    source: str = Field(AUTO, description=f"the language of the document, or {AUTO}")
    target: str = Field(description="the language to translate into")
    system: SystemName = None
    via: Stop = None
    way: WayName = None
    api_key: Key = None

    @property
    def targets(self) -> list[str]:
        """The language to translate into."""
        return [self.target]


class File(NamedTuple):
    """A file that a client has sent."""

    name: str
    content: bytes


T = TypeVar("T", Detection, Asked)


def schema(model: type[BaseModel]) -> dict[str, Any]:
    """What the description of the interface says of a request's body."""
    body = {"schema": model.model_json_schema()}
    return {"requestBody": {"required": True, "content": dict.fromkeys(KINDS, body)}}


def upload_schema() -> dict[str, Any]:
    """The same of a document's request."""
    described = AskedDocument.model_json_schema()
    described["properties"] = {"file": {"type": "string", "format": "binary"}} | described["properties"]
    described["required"] = ["file", *described["required"]]
    return {"requestBody": {"required": True, "content": {UPLOAD: {"schema": described}}}}


async def read_request(request: Request, model: type[T], most: int, seconds: float) -> T:
    """What a client asks for; `Refused` for what cannot be read."""
    kind = kind_of(request, KINDS)
    body = await read_in_time(request, most, seconds)
    try:
        if kind == JSON:
            values = json.loads(body)
        elif kind == FORM:
            values = values_of(
                parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
            )
        else:
            values = values_of((await read_upload(request, body, files=0)).multi_items())
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(BAD, f"the request is not {kind} in UTF-8 ({error}); send such") from None
    if not isinstance(values, dict):
        raise Refused(BAD, 'the request must be a JSON object, like {"q": "text", "target": "de"}')
    try:
        return model.model_validate(given(values, model))
    except ValidationError as error:
        raise InputError(fault_of(error, model)) from None


async def read_document(request: Request, most: int, seconds: float) -> tuple[AskedDocument, File]:
    """A document that a client sends, and what it asks for; `Refused` for what cannot be read."""
    kind_of(request, [UPLOAD])
    form = await read_upload(request, await read_in_time(request, most, seconds), files=1)
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise InputError("'file' is missing: it must be a document, with its name")
    values = values_of((name, value) for name, value in form.multi_items() if name != "file")
    try:
        return AskedDocument.model_validate(values), File(file.filename, await file.read())
    except ValidationError as error:
        raise InputError(fault_of(error, AskedDocument)) from None


async def read_upload(request: Request, body: bytes, files: int) -> FormData:
    """A form with so many files at most; `Refused` for what is none."""

    async def whole() -> AsyncIterator[bytes]:
        yield body

    try:
        return await MultiPartParser(request.headers, whole(), max_files=files, max_fields=FIELDS).parse()
    except (MultiPartException, KeyError, ValueError) as error:
        raise Refused(BAD, f"the request cannot be read as {UPLOAD} ({error}); mend that") from None


def kind_of(request: Request, known: Sequence[str]) -> str:
    """The type of a request; `Refused` for one that is not among those known, of which the first is usual."""
    kind = request.headers.get("content-type", known[0]).partition(";")[0].strip().lower()
    if kind not in known:
        raise Refused(UNKNOWN_KIND, f"a request of type {kind} cannot be read; send {' or '.join(known)}")
    return kind


async def read_in_time(request: Request, most: int, seconds: float) -> bytes:
    """The body of a request; `Refused` for one that is too large or too late."""
    try:
        async with asyncio.timeout(seconds):
            return await read_body(request, most)
    except TimeoutError:
        raise Refused(SLOW, f"the request was not there after {seconds:g} seconds; send it again") from None


async def read_body(request: Request, most: int) -> bytes:
    """The body of a request; `Refused` for one of more bytes."""
    too_large = Refused(TOO_LARGE, f"the request is larger than {most} bytes; send less text at a time")
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
    return bytes(body)


def values_of(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of a form, from their names and values; one that is there several times is an array, and an
    empty one is none, unless it is the text.
    """
    fields: dict[str, list[Any]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return {
        name: values if len(values) > 1 else values[0]
        for name, values in fields.items()
        if name == "q" or values != [""]
    }


def given(values: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The fields of a request, without those that are null or empty and may be left out."""
    needed = {name for name, field in model.model_fields.items() if field.is_required()}
    return {name: value for name, value in values.items() if name in needed or value not in (None, "")}


def fault_of(error: ValidationError, model: type[BaseModel]) -> str:
    """The first fault of a request in a sentence."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    what = "is missing" if first["type"] == "missing" else "is not right"
    return f"'{name}' {what}: it must be {model.model_fields[name].description}"
