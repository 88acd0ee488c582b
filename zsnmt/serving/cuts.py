"""A text in lines to translate and what stands between them, which is kept as it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from zsnmt.errors import InputError
from zsnmt.text.lines import find_fault, is_blank

TEXT, HTML = FORMATS = ("text", "html")


class Piece(NamedTuple):
    """A part of a text, in plain words; it is a line to translate, or kept."""

    is_line: bool
    text: str


@dataclass(frozen=True)
class Cut:
    """The pieces of a text in one of the `FORMATS`."""

    pieces: list[Piece]
    format: str

    @property
    def lines(self) -> list[str]:
        """What is to be translated."""
        return [text for is_line, text in self.pieces if is_line]

    def filled(self, translations: Sequence[str]) -> str:
        """The text with translations in the place of its lines."""
        rest = iter(translations)
        spelt = escape_text if self.format == HTML else str
        return "".join(spelt(next(rest)) if is_line else text for is_line, text in self.pieces)


def cut(text: str, form: str) -> Cut:
    """A text in pieces: plain text line by line, HTML by the text between its tags.

    Line breaks, spaces around a line, tags, comments, scripts and styles are kept. `InputError` for a line
    with a control character, and for a declaration of HTML that cannot be read.
    """
    pieces = [*(markup_pieces(text) if form == HTML else line_pieces(text))]
    for is_line, line in pieces:
        if is_line and (fault := find_fault(line)):
            raise InputError(f"a line of the text {fault}")
    return Cut(pieces, form)


def line_pieces(text: str) -> Iterator[Piece]:
    """The lines of a text, and the line breaks and spaces around them."""
    for line in text.splitlines(keepends=True):
        yield from around(line, line.strip())


def markup_pieces(text: str) -> Iterator[Piece]:
    """The tags of HTML, and the text between them, in which any white space is a space."""
    reader = MarkupReader()
    try:
        reader.feed(text)
        reader.close()
    except AssertionError as error:  # as Python's parser ends on some declarations
        raise InputError(f"the text is not HTML ({error}); mend it, or send it as text") from None
    for is_line, group in groupby(reader.pieces, itemgetter(0)):
        whole = "".join(part for _, part in group)
        if is_line:
            for is_core, part in around(whole, whole.strip()):
                yield Piece(is_core, " ".join(part.split()) if is_core else escape_text(part))
        else:
            yield Piece(is_line, whole)


def around(text: str, core: str) -> Iterator[Piece]:
    """The core of a text as a line, unless nothing is in it, and what is around it."""
    if is_blank(core):
        yield Piece(False, text)
    else:
        before, _, after = text.partition(core)
        yield from (Piece(False, before), Piece(True, core), Piece(False, after))


def escape_text(text: str) -> str:
    """Text as it stands between tags."""
    return escape(text, quote=False)


class MarkupReader(HTMLParser):
    """Takes HTML apart: `pieces` are text, and everything else as it is written."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[Piece] = []

    def keep(self, markup: str | None) -> None:
        """Notes what is not text."""
        self.pieces.append(Piece(False, markup or ""))

    def handle_data(self, data: str) -> None:
        self.pieces.append(Piece(self.cdata_elem is None, data))  # else a script or a style

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.keep(self.get_starttag_text())

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        self.keep(f"</{tag}>")

    def handle_comment(self, data: str) -> None:
        self.keep(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.keep(f"<!{decl}>")

    def unknown_decl(self, data: str) -> None:
        self.keep(f"<![{data}{']]' if data.startswith('CDATA[') else ']'}>")

    def handle_pi(self, data: str) -> None:
        self.keep(f"<?{data}>")
