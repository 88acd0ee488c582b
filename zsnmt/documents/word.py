"""Word documents (.docx): paragraphs of the text, of tables, headers, footers, notes, comments and text
boxes.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from lxml import etree
from lxml.etree import QName, _Element

from zsnmt.documents.markup import Place, local_name
from zsnmt.documents.office import DRAWINGS, parts_of, types_of
from zsnmt.documents.package import Finder, Package, Stretches, Text

MAIN = "wordprocessingml.document.main+xml"
OTHERS = ("header", "footer", "footnotes", "endnotes", "comments")
UNSEEN = frozenset({"lang", "noProof"})  # properties of a look
MARKS = (
    "footnoteReference endnoteReference commentReference drawing pict object sym bookmarkStart bookmarkEnd "
    "commentRangeStart commentRangeEnd permStart permEnd"
).split()
HYPHENS = {"noBreakHyphen": "-", "softHyphen": ""}  # what they are within a word that is translated
BREAKS = ("br", "cr", "tab", "ptab")
LEFT = ("moveFrom", "rt")  # what was moved elsewhere, and how a word is read: it stays
AROUND = ("hyperlink", "sdt", "ins", "moveTo", "ruby")  # what texts of one look are in alike
FORMULA = "{*}oMath"
WRITTEN = ("HYPERLINK", "FORMTEXT", "TOC")  # fields that show what a person wrote


def read_word(path: Path) -> Package:
    """A Word document. A passage is a paragraph, or its part before or after a tab or a break of a line;
    neighbours of one look are one run, unless the mark of a note, a picture or a field is between them. What
    a field shows, such as a page's number, is fixed, but for links.
    """
    finders: dict[str, Finder] = {
        MAIN: paragraphs,
        **{f"wordprocessingml.{kind}+xml": paragraphs for kind in OTHERS},
        **DRAWINGS,
    }
    return Package(
        path,
        "a Word document (.docx)",
        lambda contents: parts_of(types_of(contents), MAIN, finders),
        keeps_space=True,
    )


def paragraphs(root: _Element) -> Stretches:
    """The texts of all paragraphs of a part."""
    for paragraph in root.iter(within(root, "p")):
        yield from stretches(paragraph)


def within(element: _Element, name: str) -> str:
    """A name in the namespace of an element: that of ECMA-376, or the one of its strict form."""
    return f"{{{QName(element).namespace}}}{name}"


def stretches(paragraph: _Element) -> Stretches:
    """The texts of a paragraph itself, not of text boxes in it, between breaks."""
    known = ("t", "instrText", "fldChar", *HYPHENS, *MARKS, *BREAKS)
    names = {within(paragraph, name): name for name in known}
    own, simple_field, *left = (within(paragraph, name) for name in ("p", "fldSimple", *LEFT))
    found: list[Text] = []
    fields: list[Field] = []  # that are open
    marks = 0
    for element in paragraph.iter(*names, FORMULA):
        if next(element.iterancestors(own)) is not paragraph:
            continue
        name = names.get(element.tag)
        if name == "t" or name in HYPHENS:
            if next(element.iterancestors(*left), None) is not None:
                continue
            simple = (
                Field(each.get(within(each, "instr"), ""), True)
                for each in element.iterancestors(simple_field)
            )
            fixed = any(field.is_computed for field in (*fields, *simple))
            if name == "t":
                found.append(Text(Place(element), element.text or "", (marks, *look(element)), fixed=fixed))
            elif not fixed:
                found.append(Text(Hyphen(element), HYPHENS[name], (marks, *look(element))))
        elif name in BREAKS:
            yield found
            found = []
        elif name == "instrText":
            if fields:
                fields[-1].instruction += element.text or ""
        else:
            marks += 1
            kind = element.get(within(element, "fldCharType")) if name == "fldChar" else None
            if kind == "begin":
                fields.append(Field())
            elif fields and kind == "separate":
                fields[-1].shows = True
            elif fields and kind == "end":
                fields.pop()
    yield found


class Hyphen(Place):
    """An element that stands for a hyphen; it becomes text where that is translated."""

    def write(self, text: str) -> None:
        self.element.tag = within(self.element, "t")
        super().write(text)


@dataclass
class Field:
    """What a field is to show, and whether that begins."""

    instruction: str = ""
    shows: bool = False

    @property
    def is_computed(self) -> bool:
        """Whether a text here is a value that Word fills in, and not what a person wrote for a link or into a
        form, nor a heading in a table of contents.
        """
        return self.shows and not self.instruction.strip().upper().startswith(WRITTEN)


def look(text: _Element) -> tuple[Hashable, ...]:
    """What texts of one look have in common: the properties of their run, and the link, the control, such
    as a field of a form, and the tracked insertion that they are in.
    """
    run = next(text.iterancestors(within(text, "r")))
    properties = run.find(within(text, "rPr"))
    seen = () if properties is None else [each for each in properties if local_name(each) not in UNSEEN]
    around = (next(text.iterancestors(within(text, name)), None) for name in AROUND)
    return b"".join(map(etree.tostring, seen)), *around
