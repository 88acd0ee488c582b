"""Documents that clients send, and their translations, which wait until they are fetched."""

import secrets
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from zipfile import is_zipfile

from zsnmt.documents.formats import FORMATS, read_document
from zsnmt.documents.passages import Document
from zsnmt.errors import InputError
from zsnmt.files.archives import unpacked_size
from zsnmt.serving.refusals import TOO_LARGE, Refused
from zsnmt.serving.requests import File
from zsnmt.serving.texts import refuse_faults

UNPACKED = 10  # times as many bytes as a file may have
WAITS = 600  # seconds that a translation waits for its client
KEPT = 10  # times as many bytes as a file may have, of all translations that wait


def read_upload(file: File, most: int) -> Document:
    """A document that was sent, of `most` bytes; it is on the disk only while it is read.

    Raises `InputError` for what is not of a known format or cannot be read, and `Refused` for what unpacks to
    too much.
    """
    name = plain_name(file.name)
    ending = Path(name).suffix.lower()
    if ending not in FORMATS:
        raise InputError(f"'{name}' is not of a known format; send a file that ends in {', '.join(FORMATS)}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"document{ending}"
        path.write_bytes(file.content)
        if is_zipfile(path) and unpacked_size(path) > UNPACKED * most:
            raise Refused(TOO_LARGE, f"'{name}' unpacks to too much; send a smaller document")
        try:
            document = read_document(path)
            refuse_faults(document)
            return document
        except InputError as error:
            raise InputError(str(error).replace(str(path), f"'{name}'")) from None


def plain_name(name: str) -> str:
    """The name that a client gave a file, without folders, those of Windows too."""
    return Path(name.replace("\\", "/")).name.replace("\0", "")


def name_of_translation(name: str, language: str) -> str:
    """The name of a document in another language: letter_de.docx of letter.docx."""
    path = Path(plain_name(name))
    return f"{path.stem}_{language}{path.suffix}"


class Parcel(NamedTuple):
    """A translated document, and when it came."""

    file: File
    came: float


class Parcels:
    """Translated documents, in memory alone, which who knows their number may fetch for some minutes."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.clock = KEPT * most, clock
        self.waiting: dict[str, Parcel] = {}  # the oldest first

    def keep(self, file: File) -> str:
        """The number by which a document is fetched; the oldest ones go where there are too many."""
        number = secrets.token_urlsafe(24)
        self.waiting[number] = Parcel(file, self.clock())
        self.forget()
        return number

    def fetch(self, number: str) -> File | None:
        """A document by its number; None for one that is not there any more."""
        self.forget()
        parcel = self.waiting.get(number)
        return parcel.file if parcel else None

    def forget(self) -> None:
        """Drop what has waited too long, and the oldest of what is too much."""
        total = sum(len(parcel.file.content) for parcel in self.waiting.values())
        for number, parcel in [*self.waiting.items()]:
            if self.clock() - parcel.came <= WAITS and total <= self.most:
                break
            total -= len(parcel.file.content)
            del self.waiting[number]
