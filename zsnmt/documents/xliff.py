"""XLIFF (.xlf, .xliff), in which the tools of translators hand over what is to be translated: texts without a
translation get one, marked for a person to look at. Nothing that is there is replaced.

Sources: XLIFF 1.2 (OASIS 2008), XLIFF 2.1 (OASIS 2018); what 2.0 has is the same here.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

from lxml import etree
from lxml.etree import QName, _Element

from zsnmt.documents.messages import PLACEHOLDER, runs_of
from zsnmt.documents.passages import Passage, Run
from zsnmt.errors import InputError
from zsnmt.text.lines import open_file

PARSER = etree.XMLParser(resolve_entities=False)  # an entity may name a file of this machine
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
NATIVE = frozenset("bpt ept it ph sc ec".split())  # elements that hold code of the document, or nothing


class Version(NamedTuple):
    """What the versions of XLIFF call differently."""

    unit: str  # what has a source and its target
    file: str  # what says the target language,
    language: str  # and its attribute that does
    marked: str  # what has the state of a translation
    state: str  # that a person is still to look at


VERSIONS = {
    "1": Version("trans-unit", "file", "target-language", marked="target", state="needs-review-translation"),
    "2": Version("segment", "xliff", "trgLang", marked="segment", state="translated"),
}


class Place(NamedTuple):
    """Where a text stands: in an element, or behind it."""

    element: _Element
    behind: bool = False
    fixed: bool = False

    @property
    def text(self) -> str:
        return (self.element.tail if self.behind else self.element.text) or ""

    def write(self, text: str) -> None:
        if self.behind:
            self.element.tail = text
        else:
            self.element.text = text


class Xliff:
    """A file of texts to be translated. A passage is a text without a translation; markup within it stays
    where it is, between the same parts.
    """

    def __init__(self, path: Path) -> None:
        with open_file(path) as file:
            content = file.read()
        try:
            self.root = etree.fromstring(content, PARSER)
        except etree.XMLSyntaxError as error:
            raise InputError(f"{path} is not well-formed XML ({error}); export it again") from None
        version = VERSIONS.get((self.root.get("version") or "")[:1])
        if QName(self.root).localname != "xliff" or version is None:
            raise InputError(
                f"{path} is no XLIFF 1 or 2, which begins with <xliff version=...>; export it again as one"
            )
        self.version = version
        units = self.root.iter(f"{{*}}{version.unit}")
        self.sources = [source for source in map(open_source, units) if source is not None]
        self.runs = [[runs_at(place) for place in places_of(source)] for source in self.sources]
        self.passages = [Passage(tuple(run for runs in of_source for run in runs)) for of_source in self.runs]

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        for source, runs, texts in zip(self.sources, self.runs, translations, strict=True):
            target, left = add_target(source), iter(texts)
            for place, of_place in zip(places_of(target), runs, strict=True):
                if of_place:
                    place.write("".join(next(left) for _ in of_place))
            marked = target if self.version.marked == "target" else target.getparent()
            marked.set("state", self.version.state)
        for element in self.root.iter(f"{{*}}{self.version.file}"):
            if element.get(self.version.language, "").replace("_", "-").split("-")[0] != language:
                element.set(self.version.language, language)  # else it may name a country, too
        return etree.tostring(self.root.getroottree(), xml_declaration=True, encoding="UTF-8")


def open_source(unit: _Element) -> _Element | None:
    """The source of a unit that is to be translated and is not; in its segments, where it is cut into
    them.
    """
    said = (element.get("translate") for element in (unit, *unit.iterancestors()))
    if next(filter(None, said), "yes") == "no":
        return None
    target = unit.find("{*}target")
    if target is not None and "".join(target.itertext()).strip():
        return None
    cut = unit.find("{*}seg-source")
    source = unit.find("{*}source") if cut is None else cut
    return source if source is not None and any(place.text.strip() for place in places_of(source)) else None


def places_of(element: _Element, fixed: bool = False) -> Iterator[Place]:
    """Where text stands in an element, but for code of the document, in order."""
    yield Place(element, fixed=fixed)
    for child in element:
        if isinstance(child.tag, str) and QName(child).localname not in NATIVE:  # no comment
            yield from places_of(child, fixed or is_protected(child))
        yield Place(child, behind=True, fixed=fixed)


def is_protected(element: _Element) -> bool:
    """Whether an element within a text says that it is not to be translated."""
    return element.get("translate") == "no" or element.get("mtype") == "protected"


def runs_at(place: Place) -> tuple[Run, ...]:
    """A text, in which places of values are fixed."""
    return (Run(place.text, fixed=True),) if place.fixed and place.text else runs_of(place.text, PLACEHOLDER)


def add_target(source: _Element) -> _Element:
    """The target of a source, with its content, behind it; one that is there without text is replaced."""
    unit, target = source.getparent(), deepcopy(source)
    target.tag = QName(QName(source).namespace, "target")
    target.attrib.pop(LANGUAGE, None)
    if (old := unit.find("{*}target")) is not None:
        target.attrib.update(old.attrib)
        target.tail = old.tail
        unit.replace(old, target)
    else:
        unit.insert(unit.index(source) + 1, target)
    return target
