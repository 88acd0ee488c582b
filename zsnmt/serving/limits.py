"""What the server takes at most, and how long it waits; each is an option of `zsnmt serve`."""

from dataclasses import dataclass, field, fields
from typing import Any

from zsnmt.errors import InputError

MOST = 10**9


def limit(default: float, text: str) -> Any:
    """A field with a default and the help of its option."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Limits:
    """The bounds of the server; `InputError` for one that leaves no room for a request."""

    characters: int = limit(10_000, "characters in a request, at most")
    texts: int = limit(200, "texts, or target languages, in a request, at most")
    queue: int = limit(2_000, "lines that wait or are being translated, at most")
    batch: int = limit(64, "lines that are translated together, at most; long requests take turns")
    gather: float = limit(5, "milliseconds that an idle server waits for more requests to translate together")
    seconds: float = limit(
        60, "seconds that a request may take to arrive, and then as many to be translated, at most"
    )
    document: int = limit(100_000, "characters of a document, at most; 0 to take none")
    upload: int = limit(10_000_000, "bytes of a document, at most; unpacked, ten times as many")
    rate: int = limit(0, "requests in a minute from one address, at most; 0 for any number")

    def __post_init__(self) -> None:
        for each in fields(self):
            least, value = (0 if each.name in ("gather", "rate", "document") else 1), getattr(self, each.name)
            if not least <= value <= MOST:  # which no NaN is
                raise InputError(f"--{each.name} is {value}; it must be from {least} to {MOST:,}")

    @property
    def body(self) -> int:
        """Bytes of a request, at most: a character may take 12, as two escapes of JSON or in a form."""
        return 12 * self.characters + 65_536
