"""OpenDocument, as LibreOffice writes it: texts (.odt), slides (.odp) and spreadsheets (.ods).

Source: OpenDocument 1.3 (OASIS 2021), part 3.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from typing import Literal

from lxml.etree import Element, QName, _Element, fromstring

from zsnmt.documents.markup import PARSER, Place, child_of, local_name
from zsnmt.documents.package import Finder, Package, Stretches, Text, texts_at

STYLES = "styles.xml"
TYPE = b"application/vnd.oasis.opendocument."
OFFICE, STYLE, TABLE, TEXT = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}" for name in ("office", "style", "table", "text")
)
NAME, PARENT, STYLED = f"{STYLE}name", f"{STYLE}parent-style-name", f"{TEXT}style-name"
WRITTEN, BEGIN = f"{STYLE}writing-mode", "start"
ALIGNED = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}text-align"
PARAGRAPHS = (f"{TEXT}p", f"{TEXT}h")
WAYS = {True: "rl-tb", False: "lr-tb"}  # in which a paragraph is written, by whether that is from the right
WITHIN = frozenset({"span", "a", "meta", "ruby", "ruby-base"})  # elements around words
BREAKS = frozenset({"tab", "line-break"})
MOST_SPACES = 100  # that are read where an element stands for many
UNSEEN = frozenset(  # properties of a look
    "rsid paragraph-rsid rfc-language-tag language country script language-asian country-asian script-asian "
    "rfc-language-tag-asian language-complex country-complex script-complex rfc-language-tag-complex".split()
)

Look = tuple[Hashable, ...]
Item = Text | Literal["break", "mark"]  # a mark stands between two texts, such as that of a note


def read_open_document(path: Path) -> Package:
    """A document of LibreOffice. A passage is a paragraph, or its part before or after a tab or a break of a
    line. What a field shows is fixed. Cells of numbers, dates and formulas stay, and what was deleted.
    """
    package = Package(path, "an OpenDocument file (.odt, .odp, .ods)", parts)
    package.turn = partial(turn, alignments=cache(lambda: alignments_of(package.archive.contents)))
    return package


def parts(contents: Mapping[str, bytes]) -> dict[str, Finder]:
    """The text, and the headers and footers, which are kept beside the styles."""
    if not contents["mimetype"].startswith(TYPE):
        raise ValueError("it has other content")
    return {name: paragraphs for name in ("content.xml", STYLES) if name in contents}


def paragraphs(root: _Element) -> Stretches:
    """The texts of all paragraphs, between breaks."""
    looks = {
        style.get(NAME, ""): look_of(style)
        for style in root.iter(f"{STYLE}style")
        if style.get(f"{STYLE}family") == "text"
    }
    for paragraph in root.iter(*PARAGRAPHS):
        if stays(paragraph):
            continue
        for cell in paragraph.iterancestors(f"{TABLE}table-cell"):
            cell.attrib.pop(f"{OFFICE}string-value", None)  # it would stay beside the new text
        stretch: list[Text] = []
        marks = 0
        for item in items(paragraph, looks):
            if item == "break":
                yield stretch
                stretch = []
            elif item == "mark":
                marks += 1
            else:
                stretch.append(item._replace(look=(marks, item.look)))
        yield stretch


def stays(paragraph: _Element) -> bool:
    """Whether a paragraph was deleted, or shows the value of a cell that is not text."""
    if next(paragraph.iterancestors(f"{TEXT}tracked-changes"), None) is not None:
        return True
    cell = next(paragraph.iterancestors(f"{TABLE}table-cell", f"{OFFICE}annotation"), None)
    if cell is None or cell.tag != f"{TABLE}table-cell":
        return False
    return cell.get(f"{OFFICE}value-type", "string") != "string" or f"{TABLE}formula" in cell.attrib


def items(
    element: _Element, looks: Mapping[str, Look], look: Look = (), *, fixed: bool = False
) -> Iterator[Item]:
    """What an element of a paragraph holds, in order."""
    yield from texts_at(Place(element, fixed=fixed), look)
    for child in element:
        name = local_name(child)
        if name in WITHIN:
            around = (child,) if name == "a" else looks.get(child.get(f"{TEXT}style-name", ""), ())
            yield from items(child, looks, (*look, *around), fixed=fixed)
        elif name == "s":
            spaces = int(child.get(f"{TEXT}c", "1"))  # the element stays, so fewer may stand for it here
            yield Text(None, " " * min(spaces, MOST_SPACES), fixed=True)
        elif name in BREAKS:
            yield "break"
        elif name not in ("", "soft-page-break"):  # a comment has no name
            yield "mark"
            if next(child.iter(*PARAGRAPHS), None) is None:  # a field; others hold paragraphs of their own
                yield from items(child, looks, look, fixed=True)
        yield from texts_at(Place(child, behind=True, fixed=fixed), look)


def look_of(style: _Element) -> Look:
    """What is seen of the style of some words; nothing where LibreOffice made it to know who wrote them."""
    seen = frozenset(
        (name, value)
        for properties in style.iter(f"{STYLE}text-properties")
        for name, value in properties.attrib.items()
        if QName(name).localname not in UNSEEN
    )
    parent = style.get(PARENT)
    return ((parent, seen),) if parent or seen else ()


def alignments_of(contents: Mapping[str, bytes]) -> dict[str, str]:
    """How the lines of paragraphs of the named styles are aligned, by themselves or by what they stand on."""
    if STYLES not in contents:
        return {}
    named = paragraph_styles(fromstring(contents[STYLES], PARSER).iter(f"{STYLE}style"))
    found = {}
    for name, style in named.items():
        passed, below = {name}, style
        while own_alignment(below) is None and (parent := below.get(PARENT)) in named.keys() - passed:
            passed.add(parent)
            below = named[parent]
        found[name] = own_alignment(below) or BEGIN
    return found


def paragraph_styles(styles: Iterable[_Element]) -> dict[str, _Element]:
    """Those of some styles that are of paragraphs, by their names."""
    return {style.get(NAME, ""): style for style in styles if style.get(f"{STYLE}family") == "paragraph"}


def own_alignment(style: _Element) -> str | None:
    """The alignment that a style has by itself."""
    properties = style.find(f"{STYLE}paragraph-properties")
    return None if properties is None else properties.get(ALIGNED)


def turn(text: _Element, from_right: bool, *, alignments: Callable[[], Mapping[str, str]]) -> None:
    """Set which way a text is written, by a style that is that of its paragraph but for this, and for the
    tables around it, but not for sheets.
    """
    paragraph = next(each for each in (text, *text.iterancestors()) if each.tag in PARAGRAPHS)
    if next(paragraph.iterancestors(f"{OFFICE}spreadsheet"), None) is not None:
        return
    root, way = paragraph.getroottree().getroot(), WAYS[from_right]
    name = paragraph.get(STYLED, "Standard")
    styles = child_of(root, "automatic-styles", before=("body", "master-styles"))
    own = paragraph_styles(styles)
    if not name.endswith(way):
        paragraph.set(STYLED, new := f"{name}_{way}")
        if new not in own:
            made = Element(f"{STYLE}style", {PARENT: name}) if name not in own else deepcopy(own[name])
            made.attrib.update({NAME: new, f"{STYLE}family": "paragraph"})
            side = own_alignment(made) or alignments().get(made.get(PARENT, ""), BEGIN)
            align(made, from_right, side=side)
            styles.append(made)
    tables = {each.get(f"{TABLE}style-name") for each in paragraph.iterancestors(f"{TABLE}table")}
    for style in styles:
        if style.get(f"{STYLE}family") == "table" and style.get(NAME) in tables:
            child_of(style, "table-properties").set(WRITTEN, way)


def align(style: _Element, from_right: bool, *, side: str) -> None:
    """Let a style say which way its paragraphs are written, and at which side their lines begin, where that
    is one of both. LibreOffice takes `start` for the left, and writes `end` where lines begin at the right.
    """
    properties = child_of(style, "paragraph-properties")
    properties.set(WRITTEN, WAYS[from_right])
    if side in (BEGIN, "left", "end", "right"):
        begins = not from_right or side in (BEGIN, "left")
        properties.set(ALIGNED, "right" if begins == from_right else "left")
