"""The formats of documents, by the ending of a file's name."""

from collections.abc import Callable
from functools import cache
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
    ".xhtml": ("web_page", "read_web_page"),
    ".srt": ("subrip", "SubRip"),
    ".vtt": ("webvtt", "WebVtt"),
    ".docx": ("word", "read_word"),
    ".pptx": ("office", "read_slides"),
    ".xlsx": ("spreadsheet", "read_spreadsheet"),
    ".odt": ("open_document", "read_open_document"),
    ".odp": ("open_document", "read_open_document"),
    ".ods": ("open_document", "read_open_document"),
    ".epub": ("book", "Book"),
    ".po": ("messages", "Messages"),
    ".pot": ("messages", "Messages"),
    ".xlf": ("xliff", "Xliff"),
    ".xliff": ("xliff", "Xliff"),
}
# Of formats that are not read, those that are no lines of text.
NOT_READ = frozenset(
    ".adoc .ass .csv .dfxp .doc .docm .dotm .dotx .fb2 .fodt .ftl .idml .ini .json .key .md .mqxliff "
    ".mxliff .numbers .odg .otp .ots .ott .pages .pdf .potx .ppsx .ppt .pptm .properties .resw .resx .rst "
    ".rtf .sbv .sdlxliff .ssa .strings .tex .tmx .toml .tsv .ttml .txlf .xcstrings .xls .xlsm "
    ".xltx .xml .yaml .yml .zip".split()
)


def format_of(path: Path | None, *, paragraphs: bool = False) -> str | None:
    """The format in which a file is read as a document, `.txt` for text in paragraphs; None for lines.

    `InputError` for a file of a format that is not read.
    """
    if path is None:
        return None
    ending = path.suffix.lower()
    if ending in NOT_READ:
        raise InputError(
            f"{path} is of a format that is not read; convert it into a file that ends in "
            f"{', '.join(FORMATS)}, or give its text alone, one sentence per line, to standard input"
        )
    return ending if ending in FORMATS.keys() - {PLAIN} else PLAIN if paragraphs else None


def readable_formats() -> list[str]:
    """The endings of documents whose packages are installed here."""
    return [ending for ending, (module, _) in FORMATS.items() if is_installed(module)]


@cache
def is_installed(module: str) -> bool:
    try:
        import_module(f"zsnmt.documents.{module}")
    except ModuleNotFoundError:
        return False
    return True


def read_document(path: Path, ending: str | None = None) -> "Document":
    """A document in the format of an ending, by default that of its name.

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
