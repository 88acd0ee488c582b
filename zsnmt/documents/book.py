"""Books (.epub): chapters, which are web pages, and the titles in the table of contents.

Source: EPUB 3.3 (W3C 2023), and the table of contents of EPUB 2.
"""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path, PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element

from zsnmt.documents.markup import LARGEST, PARSER, Place
from zsnmt.documents.package import as_file, refuse_others
from zsnmt.documents.passages import Document, Passage, Run, language_tag
from zsnmt.documents.web_page import WebPage
from zsnmt.documents.writing_direction import NAMES, turned
from zsnmt.files.archives import Archive

CONTAINER = "META-INF/container.xml"
PAGE, CONTENTS = "application/xhtml+xml", "application/x-dtbncx+xml"
LANGUAGE = "{http://purl.org/dc/elements/1.1/}language"


class Book(Document):
    """A book. Its passages are those of its pages, in the order of its list of files, then the titles of the
    table of contents of EPUB 2.
    """

    def __init__(self, path: Path) -> None:
        with refuse_others(path, "a book (.epub)"):
            self.archive = Archive(path, LARGEST)
            contents = self.archive.contents
            container = etree.fromstring(contents[CONTAINER], PARSER)
            self.package = next(container.iter("{*}rootfile")).get("full-path", "")
            self.list = etree.fromstring(contents[self.package], PARSER)
            self.pages = {name: WebPage(contents[name].decode("utf-8-sig")) for name in self.names(PAGE)}
            self.titles = {name: etree.fromstring(contents[name], PARSER) for name in self.names(CONTENTS)}
        self.places = [Place(text) for root in self.titles.values() for text in titles_of(root)]
        self.passages = [passage for page in self.pages.values() for passage in page.passages]
        self.passages += [Passage((Run(place.text),)) for place in self.places]

    def names(self, kind: str) -> list[str]:
        """The files of a kind, by their names in the archive."""
        folder = PurePosixPath(self.package).parent
        listed = (each for each in self.list.iter("{*}item") if each.get("media-type") == kind)
        names = (normpath(folder / unquote(each.get("href", ""))) for each in listed)
        return [name for name in names if name in self.archive.contents]

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        texts = iter(translations)
        changed = {
            name: page.content([next(texts) for _ in page.passages], language)
            for name, page in self.pages.items()
        }
        for place, (title,) in zip(self.places, texts, strict=True):
            place.write(title)
        for element in self.list.iter(LANGUAGE):
            element.text = language_tag(language)
        listed = self.list
        newer = listed.get("version", "").startswith("3")
        if newer and (way := turned(self.passages, translations)) is not None:
            listed = deepcopy(self.list)  # the book may be written once more, in another language
            for order in listed.iter("{*}spine"):
                order.set("page-progression-direction", NAMES[way])
        trees = {**self.titles, self.package: listed}
        return self.archive.written({**changed, **{name: as_file(root) for name, root in trees.items()}})


def titles_of(root: _Element) -> list[_Element]:
    """Where the titles of a table of contents stand."""
    return [text for text in root.iter("{*}text") if (text.text or "").strip()]
