"""The formats of documents, by the ending of a file's name."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt.errors import InputError

if TYPE_CHECKING:
    from zsnmt.documents.passages import Document

PLAIN = ".txt"

FORMATS = {  # module and what reads a file there; a module is loaded where its format is asked for
    PLAIN: ("plain_text", "read_plain_text"),
    ".html": ("web_page", "read_web_page"),
    ".htm": ("web_page", "read_web_page"),
    ".srt": ("subtitles", "Subtitles"),
    ".docx": ("word", "Word"),
    ".po": ("messages", "Messages"),
    ".pot": ("messages", "Messages"),
}


def is_document(path: Path | None) -> bool:
    """Whether a file's name says that it is more than lines of text."""
    return path is not None and path.suffix.lower() in FORMATS.keys() - {PLAIN}


def read_document(path: Path, ending: str | None = None) -> "Document":
    """A document in the format of its name's ending, or of another one.

    `InputError` for an unknown format, for one whose package is not installed, and for a file that does not
    follow its own.
    """
    known = FORMATS.get(ending or path.suffix.lower())
    if known is None:
        raise InputError(f"{path} is not of a known format; give a file that ends in {', '.join(FORMATS)}")
    module, name = known
    try:
        reader: Callable[[Path], Document] = getattr(import_module(f"zsnmt.documents.{module}"), name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{path} cannot be read without the package {error.name}; install zsnmt[documents]"
        ) from error
    return reader(path)
