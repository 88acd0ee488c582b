"""HTML: the text of a page in its tags. All that is not text stays as it is, to the byte."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape, unescape
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from zsnmt.documents.passages import Document, Passage, Run, language_tag
from zsnmt.documents.plain_text import form_and_text, read_text
from zsnmt.documents.writing_direction import NAMES, turned
from zsnmt.errors import InputError
from zsnmt.text.unspaced import stick_together

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q ruby s "
    "samp small span strike strong sub sup time tt u var wbr".split()
)
APART = frozenset({"a", "label", "span"})  # inline tags that may stand beside each other as in a menu
READINGS = frozenset({"rt", "rp"})  # how the words below are read, and brackets around that
KEPT = READINGS | {*"code kbd samp script style template textarea pre svg math noscript object".split()}
VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
# Whose end tags may be left out: a start tag ends the open ones beside it.
CLOSED_BY = {
    **dict.fromkeys(("td", "th"), {"p", "td", "th"}),
    **dict.fromkeys(("dt", "dd"), {"p", "dt", "dd"}),
    "tr": {"p", "tr", "td", "th"},
    **dict.fromkeys(("tbody", "tfoot"), {"p", "tr", "td", "th", "thead", "tbody"}),
    "li": {"p", "li"},
    "option": {"option"},
    "optgroup": {"option", "optgroup"},
}
ENDING_PARAGRAPHS = frozenset(
    "address article aside blockquote div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main "
    "nav ol p pre section table ul".split()
)
WITH_TEXT = ("alt", "title", "placeholder", "aria-label", "label")  # attributes
LANGUAGE = ("lang", "xml:lang")
# An attribute, whose value is passed over as a whole: what looks like another within it is none.
ATTRIBUTE = re.compile(r"""(?P<name>[^\s"'<>/=]+)(?:\s*=\s*(?P<value>"[^"]*"|'[^']*'|[^\s"'>]+))?""")
UNFINISHED = re.compile("<[a-zA-Z/!?]")
COMMENT_OR_SCRIPT = re.compile(r"<!--|<(?P<script>script|style)(?![\w-])", re.IGNORECASE)
CHARSET = re.compile(r"""(?P<before>charset\s*=\s*["']?)(?!utf-?8\b)[\w.:-]+""", re.IGNORECASE)
TEMPLATE = re.compile(r"(\{\{[^{}]*\}\}|\{%[^{}]*%\})")  # what a program fills in, or obeys
DECLARATION = re.compile(  # of XML
    r"""(?P<before><\?xml\b[^>]*?\bencoding\s*=\s*["'])(?!utf-?8\b)[\w.:-]+""", re.IGNORECASE
)


class Piece(NamedTuple):
    """A part of the source of a page."""

    kind: str  # start, end, text, other
    source: str
    tag: str = ""
    kept: bool = False  # it is not to be translated,
    fixed: bool = False  # but is a part of a sentence


class Open(NamedTuple):
    """An element that is open: its tag, whether it or one around it is not to be translated, and whether all
    of these that are not stand within a sentence.
    """

    tag: str
    kept: bool
    inline: bool


def is_marked(attributes: list[tuple[str, str | None]]) -> bool:
    """Whether an element says that it is not to be translated."""
    given = {name: value or "" for name, value in attributes}
    return given.get("translate", "").lower() == "no" or "notranslate" in given.get("class", "").split()


class Pieces(HTMLParser):
    """The pieces of a page, which together are its source."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=False)
        self.source = source
        self.found = [("other", 0, "", True, False)]  # what the parser passes over without a word, as "</>"
        self.lines = [0, *(match.end() for match in re.finditer("\n", source))]
        self.open: list[Open] = []
        self.number_open: Counter[str] = Counter()  # by tag
        end = end_of_markup(source)
        try:
            self.feed(source[:end])
            self.close()
        except AssertionError as error:  # of Python's parser
            raise InputError(f"the page is not HTML ({error}); mend that declaration") from None
        self.found.append(("other", end, "", True, False))

    def add(self, kind: str, tag: str = "", marked: bool = False) -> None:
        line, column = self.getpos()
        around = self.around
        fixed = around.kept and around.inline
        self.found.append((kind, self.lines[line - 1] + column, tag, around.kept or marked, fixed))

    @property
    def around(self) -> "Open":
        """The element around what comes next."""
        return self.open[-1] if self.open else Open("", kept=False, inline=True)

    def close_last(self) -> str:
        """Close the element that was opened last, and give its tag."""
        tag = self.open.pop().tag
        self.number_open[tag] -= 1
        return tag

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        marked = is_marked(attributes)
        self.close_before(tag)
        self.add("start", tag, marked)
        if tag not in VOID:
            around, kept = self.around, tag.rpartition(":")[2] in KEPT or marked
            inline = around.inline and not (kept and tag not in INLINE)
            self.open.append(Open(tag, around.kept or kept, inline))
            self.number_open[tag] += 1

    def close_before(self, tag: str) -> None:
        """Close what is open and has no end tag, since this one begins beside it."""
        closed = {"p"} if tag in ENDING_PARAGRAPHS else CLOSED_BY.get(tag, set())
        while self.around.tag in closed:
            self.close_last()

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.add("start", tag, is_marked(attributes))

    def handle_endtag(self, tag: str) -> None:
        while self.number_open[tag] and self.close_last() != tag:
            pass  # an end tag ends what was left open within it
        self.add("end", tag)

    def handle_data(self, data: str) -> None:
        self.add("text")

    def handle_entityref(self, name: str) -> None:
        self.add("text")

    def handle_charref(self, name: str) -> None:
        self.add("text")

    def handle_comment(self, data: str) -> None:
        self.add("other")

    def handle_decl(self, declaration: str) -> None:
        self.add("other")

    def handle_pi(self, data: str) -> None:
        self.add("other")

    def unknown_decl(self, data: str) -> None:
        self.add("other")

    def pieces(self) -> Iterator[Piece]:
        """The pieces in order; text that is interrupted by nothing is one."""
        starts = [start for _, start, *_ in self.found]
        pieces = [
            Piece(kind, self.source[start:end], tag, kept=kept, fixed=fixed)
            for (kind, start, tag, kept, fixed), end in zip(self.found, [*starts[1:], len(self.source)])
        ]
        for is_text, group in groupby(pieces, lambda piece: piece.kind == "text"):
            if is_text:  # an entity is a piece of its own to the parser
                first, *others = group
                text = "".join(piece.source for piece in (first, *others))
                for part, filled_in in parts_of_template(text):
                    yield first._replace(source=part, fixed=first.fixed or filled_in and not first.kept)
            else:
                yield from group


def end_of_markup(source: str) -> int:
    """Where a page begins with a tag or comment that has no end, its length where there is none: what follows
    stays, and Python's parser would look for that end again from each tag in it.
    """
    comment = begin_of_comment(source, source.rfind("-->") + 1)
    tag = UNFINISHED.search(source, source.rfind(">") + 1)
    return min(place for place in (comment, tag.start() if tag else -1, len(source)) if place >= 0)


def begin_of_comment(source: str, place: int) -> int:
    """Where a comment begins behind a place in a page, -1 where none does; what looks so in a script or a
    style is none.
    """
    while found := COMMENT_OR_SCRIPT.search(source, place):
        if not found["script"]:
            return found.start()
        end = re.compile(f"</{found['script']}", re.IGNORECASE).search(source, found.end())
        place = end.end() if end else len(source)
    return -1


class WebPage(Document):
    """A page of HTML. Inline tags lie within a passage, all others end it; `translate="no"`, code,
    scripts and the like stay. `InputError` for a declaration that cannot be read.
    """

    def __init__(self, source: str) -> None:
        (self.mark, _), text = form_and_text(source)
        self.pieces = [*Pieces(text).pieces()]
        self.places: list[list[int]] = []  # of the pieces that are a passage's runs
        self.attributes: list[
            tuple[int, int]
        ] = []  # piece, and which of its attributes, after those passages
        self.passages: list[Passage] = []
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
        changed: dict[int, dict[int, str]] = {}
        of_attributes = slice(len(self.places), None)
        new_values = zip(self.attributes, self.passages[of_attributes], translations[of_attributes])
        for (place, number), passage, texts in new_values:
            if "".join(texts) != passage.text:
                changed.setdefault(place, {})[number] = quoted(passage, texts)
        for place, values in changed.items():
            sources[place] = with_values(sources[place], WITH_TEXT, values)
        if (way := turned(self.passages, translations)) is not None:
            self.turn(sources, NAMES[way])
        said = dict.fromkeys(range(len(LANGUAGE)), f'"{language_tag(language)}"')
        for place, piece in enumerate(self.pieces):
            if piece.kind == "start" and piece.tag == "html":
                sources[place] = with_values(sources[place], LANGUAGE, said)
            elif piece.kind == "start" and piece.tag == "meta":  # the page is written in UTF-8
                sources[place] = CHARSET.sub(r"\g<before>utf-8", sources[place])
            elif piece.kind == "other":
                sources[place] = DECLARATION.sub(r"\g<before>UTF-8", sources[place])
        return (self.mark + "".join(sources)).encode("utf-8")

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


def attributes(source: str, names: Sequence[str]) -> list[re.Match[str]]:
    """The attributes of a start tag that have some names, and a value."""
    found = ATTRIBUTE.finditer(source)
    return [match for match in found if match["value"] and match["name"].lower() in names]


def unquote(value: str) -> str:
    """The value of an attribute as it stands between quotation marks, if there are some."""
    return value[1:-1] if value[0] in "\"'" else value


def passage_of_value(value: str) -> Passage:
    """The value of an attribute as a passage; what a program fills in is there as it stands."""
    parts = parts_of_template(value)
    return Passage(tuple(Run(part if fixed else unescape(part), fixed) for part, fixed in parts))


def quoted(passage: Passage, texts: Sequence[str]) -> str:
    """The value of an attribute with new texts, between marks that a program does not need within it."""
    pairs = zip(passage.runs, texts, strict=True)
    value = "".join(text if run.fixed else escape(text) for run, text in pairs)
    mark = "'" if '"' in value else '"'
    return f"{mark}{value}{mark}"


def parts_of_template(source: str) -> Iterator[tuple[str, bool]]:
    """The parts of a source, and whether each is what a program fills in or obeys."""
    for number, part in enumerate(TEMPLATE.split(source)):
        if part:
            yield part, number % 2 == 1


def with_values(source: str, names: Sequence[str], values: dict[int, str]) -> str:
    """A start tag with other values of some of its attributes, by their number among those of some names."""
    written, end = "", 0
    for number, match in enumerate(attributes(source, names)):
        written += source[end : match.start("value")] + values.get(number, match["value"])
        end = match.end("value")
    return written + source[end:]
