"""Documents of Office (Office Open XML, ECMA-376): their parts by type, and text in drawings."""

from collections.abc import Mapping
from pathlib import Path

from lxml import etree
from lxml.etree import _Element

from zsnmt.documents.markup import PARSER, Place, child_of, local_name, within
from zsnmt.documents.package import Finder, Package, Stretches, Text, texts_at

DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"  # the namespace of text in drawings
CENTRED = ("ctrTitle", "subTitle")  # shapes whose lines are in the middle
UNSEEN = frozenset("lang altLang dirty err noProof smtClean smtId bmk".split())  # attributes of a look


def types_of(contents: Mapping[str, bytes]) -> dict[str, str]:
    """The type of content of each part, by its name: its own, or else that of all with its ending."""
    index = etree.fromstring(contents["[Content_Types].xml"], PARSER)
    usual = {each.get("Extension", "").lower(): each for each in index.iter("{*}Default")}
    own = {each.get("PartName", "").lstrip("/"): each for each in index.iter("{*}Override")}
    found = {name: own.get(name, usual.get(name.rpartition(".")[2].lower())) for name in contents}
    return {name: each.get("ContentType", "") for name, each in found.items() if each is not None}


def parts_of(types: Mapping[str, str], main: str, finders: Mapping[str, Finder]) -> dict[str, Finder]:
    """The parts of a document with text, and what finds it, from the types of all parts; `finders` are by how
    the name of a type ends.

    `ValueError` without a part of the type `main`, which tells what a document is.
    """
    if not any(type_.endswith(main) for type_ in types.values()):
        raise ValueError("it has other content")
    return {
        name: finder
        for end, finder in finders.items()
        for name, type_ in types.items()
        if type_.endswith(end)
    }


def drawn(root: _Element) -> Stretches:
    """The texts of the paragraphs of a drawing, between breaks of lines. What a field shows, such as the
    number of a slide, is fixed.
    """
    for paragraph in root.iter("{*}p"):
        stretch: list[Text] = []
        marks = 0  # of what stands between texts, such as a formula
        for child in paragraph:
            name = local_name(child)
            if name == "br":
                yield stretch
                stretch = []
            elif name in ("r", "fld") and (text := child.find("{*}t")) is not None:
                stretch += texts_at(Place(text, fixed=name == "fld"), (marks, look(child)))
            elif name not in ("pPr", "endParaRPr"):
                marks += 1
        yield stretch


def look(run: _Element) -> tuple[frozenset, bytes]:
    """What texts of one look have in common: the properties of their runs, a link among them."""
    properties = run.find("{*}rPr")
    if properties is None:
        return frozenset(), b""
    seen = frozenset(item for item in properties.attrib.items() if item[0] not in UNSEEN)
    return seen, b"".join(map(etree.tostring, properties))


def turn_drawn(text: _Element, from_right: bool) -> None:
    """Set which way a text in a drawing is written, for its paragraph, which then begins at the other side,
    and for its table.
    """
    paragraph = next(text.iterancestors(within(text, "p")))
    properties, sides = child_of(paragraph, "pPr"), ("l", "r")
    properties.set("rtl", str(int(from_right)))
    if properties.get("algn", begins_at(paragraph)) == sides[not from_right]:
        properties.set("algn", sides[from_right])
    for table in paragraph.iterancestors(within(paragraph, "tbl")):
        child_of(table, "tblPr").set("rtl", str(int(from_right)))


def begins_at(paragraph: _Element) -> str | None:
    """At which side the lines of a paragraph begin that does not say it: at the left in shapes and tables;
    None where it is likely in the middle, as in the first title of a presentation and in charts.
    """
    around = next(paragraph.iterancestors("{*}sp", "{*}tbl"), None)
    if around is None:
        return None
    return None if any(each.get("type") in CENTRED for each in around.iter("{*}ph")) else "l"


DRAWINGS: dict[str, Finder] = {
    "drawingml.chart+xml": drawn,
    "drawingml.diagramData+xml": drawn,
    "drawingml.diagramDrawing+xml": drawn,
    "officedocument.drawing+xml": drawn,
}


def read_slides(path: Path) -> Package:
    """A presentation (.pptx): what stands on its slides, in tables and charts, and in notes. A passage is a
    paragraph, or its part before or after a break of a line.
    """
    finders = {"presentationml.slide+xml": drawn, "presentationml.notesSlide+xml": drawn, **DRAWINGS}
    return Package(
        path,
        "a presentation (.pptx)",
        lambda contents: parts_of(types_of(contents), "presentationml.presentation.main+xml", finders),
        turn=turn_drawn,
    )
