"""Documents that are XML files in a zip archive, as those of word processors, slides and spreadsheets are."""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element

from zsnmt.documents.markup import LARGEST, PARSER, SPACE, Place
from zsnmt.documents.passages import Document, Passage, Run
from zsnmt.documents.writing_direction import turned
from zsnmt.errors import InputError
from zsnmt.files.archives import Archive
from zsnmt.text.lines import open_file

# Ends of lines and tabs, and characters as spreadsheets escape them.
SET_OUT = re.compile(r"((?<![ \t])[ \t]*\n\s*|\t|_x[0-9A-Fa-f]{4}_)")

OLDER = bytes.fromhex("D0CF11E0A1B11AE1")  # begins files of Office before 2007, and those with a password


class Text(NamedTuple):
    """A text of a paragraph: where it stands, its look, and whether it stays as it is. Neighbours of one look
    are one run. A text without a place is what an element stands for, such as a space.
    """

    place: Place | None
    text: str
    look: Hashable = None
    fixed: bool = False


Stretches = Iterator[list[Text]]  # texts that are translated together
Finder = Callable[[_Element], Stretches]  # what finds the texts in a file of an archive
Turn = Callable[[_Element, bool], None]  # sets for a text whether it is written from the right


class Package(Document):
    """A document whose text stands in some files of an archive; all others stay to the byte.

    `kind`: what such a document is called. `parts` gives the names of the files with text, in order, and
    what finds it there; it raises `ValueError` for an archive of another kind. `keeps_space`: set
    `xml:space`, for formats that else lose space at the ends of a text. `turn`: for formats that say of their
    paragraphs which way they are written.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        parts: Callable[[Mapping[str, bytes]], Mapping[str, Finder]],
        *,
        keeps_space: bool = False,
        turn: Turn | None = None,
    ) -> None:
        self.keeps_space, self.turn = keeps_space, turn
        self.runs: list[list[list[Text]]] = []  # what each run of each passage is made of
        self.passages: list[Passage] = []
        self.roots: dict[str, _Element] = {}  # of the files that have passages
        with refuse_others(path, kind):
            self.archive = Archive(path, LARGEST)
            contents = self.archive.contents
            for name, stretches in parts(contents).items():
                root = etree.fromstring(contents[name], PARSER)
                before = len(self.passages)
                for stretch in stretches(root):
                    self.add(stretch)
                if len(self.passages) > before:
                    self.roots[name] = root

    def add(self, stretch: Sequence[Text]) -> None:
        """Add a passage, unless it has nothing to be translated."""
        groups = [[*group] for _, group in groupby(stretch, lambda text: (text.fixed, text.look))]
        runs = tuple(Run("".join(text.text for text in group), group[0].fixed) for group in groups)
        if any(run.text.strip() for run in runs if not run.fixed):
            self.passages.append(Passage(runs))
            self.runs.append(groups)

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        new: dict[Place, str] = {}
        for runs, translated in zip(self.runs, translations, strict=True):
            for of_run, text in zip(runs, translated, strict=True):
                for number, piece in enumerate(of_run):
                    written = piece.text if piece.fixed else "" if number else text
                    if piece.place is not None:
                        new[piece.place] = new.get(piece.place, "") + written
        for place, text in new.items():
            place.write(text)
            if self.keeps_space:
                place.element.set(SPACE, "preserve")
        return self.archive.written(
            {name: as_file(root) for name, root in self.turned_roots(translations).items()}
        )

    def turned_roots(self, translations: Sequence[Sequence[str]]) -> dict[str, _Element]:
        """The files with their text, in which paragraphs that are now written the other way say so."""
        if self.turn is None:
            return self.roots
        ways: dict[_Element, bool | None] = {}
        for passage, texts, runs in zip(self.passages, translations, self.runs, strict=True):
            way = turned([passage], [texts])
            ways |= {piece.place.element: way for of_run in runs for piece in of_run if piece.place}
        if not any(way is not None for way in ways.values()):
            return self.roots
        copies = {}  # the document may be written once more, in another language
        for name, root in self.roots.items():
            copies[name] = deepcopy(root.getroottree()).getroot()
            for element, copy in [*zip(root.iter(), copies[name].iter(), strict=True)]:
                if (way := ways.get(element)) is not None:
                    self.turn(copy, way)
        return copies


def texts_at(place: Place, look: Hashable = None) -> list[Text]:
    """The texts at a place, in which ends of lines and tabs stay."""
    pieces = SET_OUT.split(place.text)
    return [
        Text(place, piece, look, fixed=place.fixed or bool(number % 2))
        for number, piece in enumerate(pieces)
        if piece
    ]


def as_file(root: _Element) -> bytes:
    """A whole tree as a file in UTF-8."""
    return etree.tostring(root.getroottree(), xml_declaration=True, encoding="UTF-8", standalone=True)


@contextmanager
def refuse_others(path: Path, kind: str) -> Iterator[None]:
    """`InputError` for whatever is wrong with a document while it is read."""
    with open_file(path) as file:
        begin = file.read(len(OLDER))
    if begin == OLDER:
        raise InputError(
            f"{path} has a password, or is of an older program (.doc, .xls, .ppt); save it again as {kind} "
            "without a password"
        )
    try:
        yield
    except Exception as error:  # of many kinds, for damage of the archive, of its index and of its parts
        raise InputError(
            f"{path} is not {kind}, or is protected or damaged ({error}); save it again as one"
        ) from None
