"""A file from one address, continued where an earlier try was cut off."""

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tqdm import tqdm

from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.files.replacing import errors_naming

WAITS = (2.0, 10.0)  # seconds before the second and the third try

TIMEOUT = 60  # seconds without a byte
CHUNK = 2**16
PARTIAL, NO_REST = 206, 416
PASSING = (408, 425, 429, 500, 502, 503, 504)
MOST = 2**32  # bytes of a file; the largest that is known here has fewer than 2**29
KEPT_FREE = 2**24  # bytes of the disk

Response = HTTPResponse | HTTPError  # an error is an answer, too


class DownloadError(Exception):
    """An address gives no file; the message says why."""


class MissingFile(DownloadError):
    """The server has no such file."""


class Interrupted(DownloadError):
    """Another try may succeed."""


ANSWERS = {404: MissingFile, 410: MissingFile}


@dataclass(frozen=True)
class Wanted:
    """What is known of a file that is to be fetched: its size in bytes, None if nobody has published it, and
    whether one that is cut short would be noticed afterwards, as an archive would.
    """

    size: int | None = None
    checked: bool = True


def download(url: str, part: Path, wanted: Wanted = Wanted(), waits: Sequence[float] = WAITS) -> None:
    """Fetches an address into the file `part`, in as many tries as there are waits, and one.

    Beside it, `part.json` says what `part` is the beginning of. A further try, of this call or a later
    one, asks for the rest of just that; a server that cannot continue, or whose file has changed, sends
    everything anew. Raises DownloadError, also for a file of another size than is wanted and of more than
    2**32 bytes, which is not fetched to its end, and InputError before the disk is full. What has arrived and
    can be continued is then kept.
    """
    for wait in (*waits, None):
        try:
            return fetch_rest(url, part, wanted)
        except Interrupted:
            if wait is None:
                raise
            time.sleep(wait)


def fetch_rest(url: str, part: Path, wanted: Wanted) -> None:
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
            check_size(begun["size"], response.chunked, wanted)
        try:
            receive(response, part, done, begun=begun, note=note, most=begun["size"] or wanted.size or MOST)
        except BaseException:
            if not note.is_file():  # nobody can go on with it
                part.unlink(missing_ok=True)
            raise
    note.unlink(missing_ok=True)


def check_size(size: int | None, chunked: bool, wanted: Wanted) -> None:
    """Raises DownloadError for a file that is not the one wanted, or could be cut short unnoticed."""
    if size is None and not chunked and wanted.size is None and not wanted.checked:
        raise DownloadError("it does not say how long its file is: one cut short would pass for whole")
    if size is not None and wanted.size not in (None, size):
        raise DownloadError(f"its file has {size} bytes, not {wanted.size} as the release")
    if size is not None and size > MOST:
        raise DownloadError(f"its file has {size} bytes, which is more than any release has")


def check_room(part: Path, size: int = 0) -> None:
    """`InputError` if the disk has no room for so many bytes more."""
    if (free := shutil.disk_usage(part.parent).free) < size + KEPT_FREE:
        raise InputError(
            f"{part.parent} has {free} bytes free, and {size + KEPT_FREE} are needed; make room there, "
            "or name another folder"
        )


def receive(response: Response, part: Path, done: int, *, begun: Mapping, note: Path, most: int) -> None:
    """Writes what arrives behind the first `done` bytes of `part`; a new one gets its note if it can be
    continued.

    Raises Interrupted for less than `begun` says, and DownloadError for more than `most` bytes.
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
    check_room(part, (begun["size"] or 0) - done)
    with bar, errors_naming(part), part.open("ab" if done else "wb") as file:
        if not done and None not in begun.values():
            write_json(note, dict(begun))
        for chunk in chunks(response):
            check_room(part)
            done += len(chunk)
            if done > most:
                note.unlink(missing_ok=True)
                raise DownloadError(f"it sends more than the {most} bytes that its file can have")
            file.write(chunk)
            bar.update(len(chunk))
    if begun["size"] not in (None, done):
        raise Interrupted(f"the connection was cut after {done} of {begun['size']} bytes")


def open_url(url: str, headers: Mapping[str, str]) -> Response:
    try:
        return urlopen(Request(url, headers={"User-Agent": "zsnmt", **headers}), timeout=TIMEOUT)
    except HTTPError as error:
        if error.code == NO_REST:
            return error
        with error:
            kind = Interrupted if error.code in PASSING else ANSWERS.get(error.code, DownloadError)
            raise kind(f"{error.code} {error.reason}") from None
    except ValueError as error:  # of an address that is none
        raise DownloadError(str(error)) from error
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
    """What a note says; nothing if it is missing or damaged, and then everything is fetched anew."""
    try:
        content = json.loads(note.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    kinds = {"url": str, "validator": str, "size": int}
    whole = isinstance(content, dict) and all(isinstance(content.get(key), kinds[key]) for key in kinds)
    return content if whole else {}
