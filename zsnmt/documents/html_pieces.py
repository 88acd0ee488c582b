"""The source of an HTML page in pieces: tags, texts, and all else, each as it stands."""

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import groupby
from typing import NamedTuple

from zsnmt.errors import InputError

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q ruby s "
    "samp small span strike strong sub sup time tt u var wbr".split()
)
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
UNFINISHED = re.compile("<[a-zA-Z/!?]")
COMMENT_OR_SCRIPT = re.compile(r"<!--|<(?P<script>script|style)(?![\w-])", re.IGNORECASE)
TEMPLATE = re.compile(r"(\{\{[^{}]*\}\}|\{%[^{}]*%\})")  # what a program fills in, or obeys


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


def parts_of_template(source: str) -> Iterator[tuple[str, bool]]:
    """The parts of a source, and whether each is what a program fills in or obeys."""
    for number, part in enumerate(TEMPLATE.split(source)):
        if part:
            yield part, number % 2 == 1
