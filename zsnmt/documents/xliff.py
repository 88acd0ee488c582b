"""XLIFF (.xlf, .xliff), in which the tools of translators hand over what is to be translated: texts without a
translation get one, marked for a person to look at. Nothing that is there is replaced.

Sources: XLIFF 1.2 (OASIS 2008), XLIFF 2.1 (OASIS 2018); what 2.0 has is the same here.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from lxml import etree
from lxml.etree import QName, _Element

from zsnmt.documents.markup import LANGUAGE, LARGEST, PARSER, Place, local_name
from zsnmt.documents.messages import PLACEHOLDER, has_choices, runs_of
from zsnmt.documents.passages import Document, Passage, Run, is_of_language, language_tag
from zsnmt.errors import InputError
from zsnmt.text.lines import open_file
from zsnmt.text.unspaced import stick_together

NATIVE = frozenset("bpt ept it ph sc ec".split())  # elements that hold code of the document, or nothing
ALONE = frozenset("x ph it".split())  # those that are not around words


class Version(NamedTuple):
    """What the versions of XLIFF call differently."""

    unit: str  # what has a source and its target
    file: str  # what says the target language,
    language: str  # and its attribute that does
    marked: str  # what has the state of a translation
    state: str  # that a person is still to look at,
    detail: str  # and the attribute that says more of a state
    not_yet: tuple[str | None, ...]  # states of what no one has translated


VERSIONS = {
    "1": Version(
        "trans-unit",
        "file",
        "target-language",
        marked="target",
        state="needs-review-translation",
        detail="state-qualifier",
        not_yet=("new", "needs-translation"),
    ),
    "2": Version(
        "segment",
        "xliff",
        "trgLang",
        marked="segment",
        state="translated",
        detail="subState",
        not_yet=(None, "initial"),
    ),
}


class Gap(NamedTuple):
    """A text without a translation, and the element without text that is to have it, if there is one."""

    source: _Element
    hole: _Element | None


class Xliff(Document):
    """A file of texts to be translated. A passage is a text without a translation; markup within it stays
    where it is, between the same parts.
    """

    def __init__(self, path: Path) -> None:
        with open_file(path) as file:
            self.source = file.read(LARGEST + 1)
        if len(self.source) > LARGEST:
            raise InputError(f"{path} has more than 1 GiB; export it in parts")
        try:
            root = etree.fromstring(self.source, PARSER)
        except etree.XMLSyntaxError as error:
            raise InputError(f"{path} is not well-formed XML ({error}); export it again") from None
        version = VERSIONS.get((root.get("version") or "")[:1])
        if local_name(root) != "xliff" or version is None:
            raise InputError(
                f"{path} is no XLIFF 1 or 2, which begins with <xliff version=...>; export it again as one"
            )
        self.version = version
        try:
            self.stretches = [[*stretches_of(gap.source)] for gap in all_gaps(root, version)]
        except RecursionError:
            raise InputError(
                f"{path} has markup within markup a thousand times; export it again without that"
            ) from None
        self.passages = [
            Passage(tuple(run for runs in stretch for run in runs))
            for gap in self.stretches
            for stretch in gap
        ]
        self.translated_into = next(filter(None, languages_there(root, version)), None)

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        texts = iter(text for of_passage in translations for text in of_passage)
        root = etree.fromstring(self.source, PARSER)
        for gap, stretches in zip(all_gaps(root, self.version), self.stretches, strict=True):
            filled = fill(gap)
            for place, runs in zip(places_of(filled), chain.from_iterable(stretches), strict=True):
                if runs:
                    place.write("".join(next(texts) for _ in runs))
            marked = next(filled.iterancestors(f"{{*}}{self.version.marked}"), filled)
            marked.set("state", self.version.state)
            marked.attrib.pop(self.version.detail, None)  # it was of the state before
            target = next(filled.iterancestors("{*}target"), filled)
            if LANGUAGE in target.attrib:
                say_language(target, LANGUAGE, language)
            unit = next(filled.iterancestors(f"{{*}}{self.version.unit}"))
            if "approved" in unit.attrib:
                unit.set("approved", "no")
        for element in root.iter(f"{{*}}{self.version.file}"):
            say_language(element, self.version.language, language)
        return etree.tostring(root.getroottree(), xml_declaration=True, encoding="UTF-8")


def say_language(element: _Element, attribute: str, language: str) -> None:
    """Let an attribute say a language, unless it says that with a country already."""
    if not is_of_language(element.get(attribute), language):
        element.set(attribute, language_tag(language))


def all_gaps(root: _Element, version: Version) -> list[Gap]:
    """What of a file is to be translated and is not, in order."""
    return [gap for unit in root.iter(f"{{*}}{version.unit}") for gap in gaps_of(unit, version)]


def gaps_of(unit: _Element, version: Version) -> list[Gap]:
    """What of a unit is to be translated and is not: all, or some of its segments, where it is cut into
    them.
    """
    said = (element.get("translate") for element in (unit, *unit.iterancestors()))
    source, target, cut = (unit.find(f"{{*}}{name}") for name in ("source", "target", "seg-source"))
    if source is None or next(filter(None, said), "yes") == "no" or has_choices(text_of(source)):
        return []
    if not has_text(target) or is_copy(unit, version):
        whole = source if cut is None else cut
        return [Gap(whole, target)] if has_text(whole) else []
    holes = {number: mark for number, mark in segments_of(target) if not has_text(mark)}
    return [
        Gap(mark, holes[number]) for number, mark in segments_of(cut) if number in holes and has_text(mark)
    ]


def is_copy(unit: _Element, version: Version) -> bool:
    """Whether the target of a unit is its source, in a state in which no one has translated it."""
    source, target = unit.find("{*}source"), unit.find("{*}target")
    if source is None or target is None:
        return False
    state = (target if version.marked == "target" else unit).get("state")
    return state in version.not_yet and text_of(target) == text_of(source)


def languages_there(root: _Element, version: Version) -> Iterator[str | None]:
    """What a file says of the language of the translations that it has, if it has some."""
    units = root.iter(f"{{*}}{version.unit}")
    translated = [unit for unit in units if has_text(unit.find("{*}target")) and not is_copy(unit, version)]
    if translated:
        yield from (file.get(version.language) for file in root.iter(f"{{*}}{version.file}"))
        yield from (unit.find("{*}target").get(LANGUAGE) for unit in translated)


def segments_of(element: _Element | None) -> Iterator[tuple[str | None, _Element]]:
    """The segments into which a text of XLIFF 1 is cut, with their numbers."""
    for mark in () if element is None else element.iter("{*}mrk"):
        if mark.get("mtype") == "seg":
            yield mark.get("mid"), mark


def text_of(element: _Element) -> str:
    """The text in an element, but for code of the document."""
    return "".join(place.text for place in places_of(element))


def has_text(element: _Element | None) -> bool:
    """Whether an element is there and has text."""
    return element is not None and bool(text_of(element).strip())


def places_of(element: _Element, fixed: bool = False) -> Iterator[Place]:
    """Where text stands in an element, but for code of the document, in order."""
    yield Place(element, fixed=fixed)
    for child in element:
        if isinstance(child.tag, str) and local_name(child) not in NATIVE:  # no comment
            yield from places_of(child, fixed or is_protected(child))
        yield Place(child, behind=True, fixed=fixed)


def stretches_of(source: _Element) -> Iterator[list[tuple[Run, ...]]]:
    """The runs at each place of a source, those together that are translated together: up to a break of a
    line, and to other code that stands between two words.
    """
    stretch: list[tuple[Run, ...]] = []
    before = ""
    for place in places_of(source):
        if place.behind and is_break(place.element, before, place.text):
            yield stretch
            stretch = []
        stretch.append(runs_at(place))
        before = place.text or before
    yield stretch


def is_break(element: _Element, before: str, after: str) -> bool:
    """Whether a line ends with an element, or words would else stick together."""
    if local_name(element) not in ALONE:
        return False
    said = element.get("ctype") == "lb" or element.get("subType") == "xlf:lb"
    return said or stick_together(before, after)


def is_protected(element: _Element) -> bool:
    """Whether an element within a text says that it is not to be translated."""
    return element.get("translate") == "no" or element.get("mtype") == "protected"


def runs_at(place: Place) -> tuple[Run, ...]:
    """A text, in which places of values are fixed."""
    return (Run(place.text, fixed=True),) if place.fixed and place.text else runs_of(place.text, PLACEHOLDER)


def fill(gap: Gap) -> _Element:
    """A copy of a source as its translation: in the place of what has no text, or behind the source."""
    filled, hole = deepcopy(gap.source), gap.hole
    filled.attrib.pop(LANGUAGE, None)
    if hole is not None:
        filled.tag, filled.tail = hole.tag, hole.tail
        filled.attrib.update(hole.attrib)
        hole.getparent().replace(hole, filled)
    else:
        unit = gap.source.getparent()
        filled.tag = QName(QName(gap.source).namespace, "target")
        unit.insert(unit.index(gap.source) + 1, filled)
    return filled
