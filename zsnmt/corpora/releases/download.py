"""A file from one address, continued where an earlier try was cut off."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from email.message import Message
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tqdm import tqdm

from zsnmt.files import replacing

WAITS = (2.0, 10.0)  # seconds before the second and the third try

TIMEOUT = 60  # seconds without a byte
CHUNK = 2**16
PARTIAL, NO_REST = 206, 416
PASSING = (408, 425, 429, 500, 502, 503, 504)

Response = HTTPResponse | HTTPError  # an error is an answer, too


class DownloadError(Exception):
    """An address gives no file; the message says why."""


class Interrupted(DownloadError):
    """Another try may succeed."""


def download(url: str, part: Path, waits: Sequence[float] = WAITS) -> None:
    """Fetches an address into the file `part`, in as many tries as there are waits, and one.

    Beside it, `part.json` says what `part` is the beginning of. A further try, of this call or a later
    one, asks for the rest of just that; a server that cannot continue, or whose file has changed, sends
    everything anew. Raises DownloadError; what has arrived is then kept.
    """
    for wait in (*waits, None):
        try:
            return fetch_rest(url, part)
        except Interrupted:
            if wait is None:
                raise
            time.sleep(wait)


def fetch_rest(url: str, part: Path) -> None:
    note = part.with_name(part.name + ".json")
    begun = read_note(note)
    done = part.stat().st_size if begun.get("url") == url and part.is_file() else 0
    if not 0 < done < begun.get("size", 0):
        done = 0
    condition = {"Range": f"bytes={done}-", "If-Range": begun["validator"]} if done else {}
    with open_url(url, condition) as response:
        if response.status in (PARTIAL, NO_REST) and not continues(response.headers, done, begun):
            note.unlink(missing_ok=True)
            raise Interrupted("its file changed while it was fetched")
        if response.headers.get_content_type() == "text/html":
            raise DownloadError("it answers with a web page instead of the file")
        if response.status != PARTIAL:
            done = 0
            begun = {"url": url, "validator": validator(response.headers), "size": size(response.headers)}
            note.unlink(missing_ok=True)
        receive(response, part, done, begun=begun, note=note)
    if begun["size"] is not None and (arrived := part.stat().st_size) != begun["size"]:
        raise Interrupted(f"the connection was cut after {arrived} of {begun['size']} bytes")
    note.unlink(missing_ok=True)


def receive(response: Response, part: Path, done: int, begun: Mapping, note: Path) -> None:
    """Writes what arrives behind the first `done` bytes of `part`; a new one gets its note if it can be
    continued.
    """
    bar = tqdm(
        desc=part.stem,
        total=begun["size"],
        initial=done,
        unit="B",
        unit_scale=True,
        leave=False,
        disable=None,
    )
    try:
        with bar, part.open("ab" if done else "wb") as file:
            if not done and None not in begun.values():
                with replacing(note) as text:
                    text.write(json.dumps(begun).encode())
            for chunk in chunks(response):
                file.write(chunk)
                bar.update(len(chunk))
    except OSError as error:
        error.filename = error.filename or str(part)  # a full disk has no name
        raise


def open_url(url: str, headers: Mapping[str, str]) -> Response:
    try:
        return urlopen(Request(url, headers={"User-Agent": "zsnmt", **headers}), timeout=TIMEOUT)
    except HTTPError as error:
        if error.code == NO_REST:
            return error
        with error:
            kind = Interrupted if error.code in PASSING else DownloadError
            raise kind(f"{error.code} {error.reason}") from None
    except (OSError, HTTPException) as error:
        raise Interrupted(reason(error)) from error


def chunks(response: Response) -> Iterator[bytes]:
    try:
        while chunk := response.read(CHUNK):
            yield chunk
    except (OSError, HTTPException) as error:
        raise Interrupted(reason(error)) from error


def reason(error: Exception) -> str:
    cause = getattr(error, "reason", error)  # of a URLError, which wraps it
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__


def continues(headers: Message, done: int, begun: Mapping) -> bool:
    """Whether a partial answer is the rest of what was begun; it need not repeat the validator."""
    sent = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", headers.get("Content-Range", ""))
    return (
        sent is not None
        and done > 0
        and (int(sent[1]), int(sent[2])) == (done, begun["size"])
        and validator(headers) in (None, begun["validator"])
    )


def validator(headers: Message) -> str | None:
    """What tells one state of a remote file from another; a weak ETag may not stand in If-Range (RFC
    9110).
    """
    tag = headers.get("ETag")
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified")


def size(headers: Message) -> int | None:
    length = headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


def read_note(note: Path) -> dict:
    try:
        return json.loads(note.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}  # then everything is fetched anew
