"""HTML: the text of a page in its tags. All that is not text stays as it is, to the byte."""

import re
from collections.abc import Sequence
from html import escape, unescape
from pathlib import Path

from zsnmt.documents.html_attributes import attributes, passage_of_value, quoted, unquote, with_values
from zsnmt.documents.html_pieces import INLINE, KEPT, READINGS, Pieces
from zsnmt.documents.passages import Document, Passage, Run, language_tag
from zsnmt.documents.plain_text import form_and_text, read_text
from zsnmt.documents.writing_direction import NAMES, turned
from zsnmt.text.unspaced import stick_together

APART = frozenset({"a", "label", "span"})  # inline tags that may stand beside each other as in a menu
WITH_TEXT = ("alt", "title", "placeholder", "aria-label", "label")  # attributes
LANGUAGE = ("lang", "xml:lang")
CHARSET = re.compile(r"""(?P<before>charset\s*=\s*["']?)(?!utf-?8\b)[\w.:-]+""", re.IGNORECASE)
DECLARATION = re.compile(  # of XML
    r"""(?P<before><\?xml\b[^>]*?\bencoding\s*=\s*["'])(?!utf-?8\b)[\w.:-]+""", re.IGNORECASE
)


class WebPage(Document):
    """A page of HTML. Inline tags lie within a passage, all others end it; `translate="no"`, code,
    scripts and the like stay. `InputError` for a declaration that cannot be read.
    """

    def __init__(self, source: str) -> None:
        (self.mark, _), text = form_and_text(source)
        self.pieces = [*Pieces(text).pieces()]
        self.passages: list[Passage] = []  # of the text between tags, then of attributes
        self.places: list[list[int]] = []  # of the pieces that are the runs of each passage of the text
        self.attributes: list[tuple[int, int]] = []  # of attributes: the piece, and which one of it
        self.find_text()
        self.find_attributes()

    def find_text(self) -> None:
        """The passages of the text between tags. A link or span that ends where the next one begins ends a
        passage, if their words would else stick together.
        """
        places: list[int] = []
        apart = False  # whether one has ended where the next one begins

        def end() -> None:
            nonlocal places
            chosen = [self.pieces[place] for place in places]
            runs = tuple(Run(unescape(piece.source), piece.fixed) for piece in chosen)
            if any(run.text.strip() and not run.fixed for run in runs):
                self.places.append(places)
                self.passages.append(Passage(runs))
            places = []

        before = self.pieces[0]
        for place, piece in enumerate(self.pieces):
            if piece.kind in ("start", "end") and piece.tag not in INLINE | READINGS:
                end()
            elif piece.kind == "start" and before.kind == "end" and {before.tag, piece.tag} <= APART:
                apart = True
            elif piece.kind == "text":
                last = self.pieces[places[-1]].source if places else ""
                if apart and stick_together(unescape(last), unescape(piece.source)):
                    end()
                apart = False
                if piece.fixed or not piece.kept:
                    places.append(place)
            before = piece
        end()

    def find_attributes(self) -> None:
        """The passages of attributes with text."""
        for place, piece in enumerate(self.pieces):
            if piece.kind == "start" and not piece.kept:
                for number, match in enumerate(attributes(piece.source, WITH_TEXT)):
                    self.attributes.append((place, number))
                    self.passages.append(passage_of_value(unquote(match["value"])))

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        sources = [piece.source for piece in self.pieces]
        for places, texts, passage in zip(self.places, translations, self.passages):
            for place, text, run in zip(places, texts, passage.runs):
                if text != run.text:
                    sources[place] = escape(text, quote=False)
        self.write_attributes(sources, translations[len(self.places) :])
        if (way := turned(self.passages, translations)) is not None:
            self.turn(sources, NAMES[way])
        self.declare(sources, language)
        return (self.mark + "".join(sources)).encode("utf-8")

    def write_attributes(self, sources: list[str], translations: Sequence[Sequence[str]]) -> None:
        """Give attributes new values in the sources of the pieces, where they differ."""
        changed: dict[int, dict[int, str]] = {}
        passages = self.passages[len(self.places) :]
        for (place, number), passage, texts in zip(self.attributes, passages, translations, strict=True):
            if "".join(texts) != passage.text:
                changed.setdefault(place, {})[number] = quoted(passage, texts)
        for place, values in changed.items():
            sources[place] = with_values(sources[place], WITH_TEXT, values)

    def declare(self, sources: list[str], language: str) -> None:
        """Say in the sources of the pieces that the page is in a language, and in UTF-8."""
        said = dict.fromkeys(range(len(LANGUAGE)), f'"{language_tag(language)}"')
        for place, piece in enumerate(self.pieces):
            if piece.kind == "start" and piece.tag == "html":
                sources[place] = with_values(sources[place], LANGUAGE, said)
            elif piece.kind == "start" and piece.tag == "meta":
                sources[place] = CHARSET.sub(r"\g<before>utf-8", sources[place])
            elif piece.kind == "other":
                sources[place] = DECLARATION.sub(r"\g<before>UTF-8", sources[place])

    def turn(self, sources: list[str], way: str) -> None:
        """Say in the sources of the pieces which way the page is written, `ltr` or `rtl`: in the tag of the
        page, and wherever it has said one of them.
        """
        for place, piece in enumerate(self.pieces):
            if piece.kind != "start" or piece.kept or piece.tag in {*KEPT, "bdo"}:
                continue
            said = attributes(sources[place], ["dir"])
            if said and unquote(said[0]["value"]).lower() in NAMES.values():
                sources[place] = with_values(sources[place], ["dir"], {0: f'"{way}"'})
            elif piece.tag == "html" and not said:
                name = len("<html")
                sources[place] = f'{sources[place][:name]} dir="{way}"{sources[place][name:]}'


def read_web_page(path: Path) -> WebPage:
    """A page in a file in UTF-8, as `read_text` reads it."""
    return WebPage(read_text(path))
