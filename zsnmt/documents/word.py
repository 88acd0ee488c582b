"""Word documents (.docx): paragraphs of the text, of tables, headers, footers, notes, comments and text
boxes.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from lxml import etree
from lxml.etree import QName, _Element

from zsnmt.documents.markup import Place, child_of, local_name, within
from zsnmt.documents.office import DRAWING, DRAWINGS, parts_of, turn_drawn, types_of
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
# Behind what says the direction of a paragraph, a run and a table, in the order of ECMA-376.
BEHIND_BIDI = frozenset(
    "adjustRightInd snapToGrid spacing ind contextualSpacing mirrorIndents suppressOverlap jc textDirection "
    "textAlignment textboxTightWrap outlineLvl divId cnfStyle rPr sectPr pPrChange".split()
)
BEHIND_RTL = frozenset("cs em lang eastAsianLayout specVanish oMath rPrChange".split())
BEHIND_VISUAL = frozenset(
    "tblStyleRowBandSize tblStyleColBandSize tblW jc tblCellSpacing tblInd tblBorders shd tblLayout "
    "tblCellMar tblLook tblCaption tblDescription tblPrChange".split()
)
OF_RTL = {"b": "bCs", "i": "iCs", "sz": "szCs"}  # looks that scripts from right to left have of their own
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
        turn=turn,
    )


def paragraphs(root: _Element) -> Stretches:
    """The texts of all paragraphs of a part. A field may show several of them, as that of a bibliography."""
    marks = Counter(each.get(within(each, "fldCharType")) for each in root.iter(within(root, "fldChar")))
    fields: list[Field] = []
    for paragraph in root.iter(within(root, "p")):
        yield from stretches(paragraph, fields)
        if marks["begin"] != marks["end"]:  # else one without an end would show all that follows
            fields.clear()


def stretches(paragraph: _Element, fields: list["Field"]) -> Stretches:
    """The texts of a paragraph itself, not of text boxes in it, between breaks; `fields` are those that are
    open.
    """
    known = ("t", "instrText", "fldChar", *HYPHENS, *MARKS, *BREAKS)
    names = {within(paragraph, name): name for name in known}
    own, *left = (within(paragraph, name) for name in ("p", *LEFT))
    found: list[Text] = []
    marks = 0
    for element in paragraph.iter(*names, FORMULA):
        if next(element.iterancestors(own)) is not paragraph:
            continue
        name = names.get(element.tag)
        if name == "t" or name in HYPHENS:
            if next(element.iterancestors(*left), None) is None:
                found += texts_at(element, name, (marks, *look(element)), fixed=is_computed(element, fields))
        elif name in BREAKS:
            yield found
            found = []
        elif name == "instrText":
            if fields:
                fields[-1].instruction += element.text or ""
        else:
            marks += 1
            if name == "fldChar":
                follow(fields, element.get(within(element, "fldCharType")))
    yield found


def texts_at(element: _Element, name: str, marked: Hashable, *, fixed: bool) -> Iterator[Text]:
    """The text of an element, of which a hyphen that is `fixed` is none."""
    if name == "t":
        if not fixed and any(map(str.isalpha, element.text or "")):
            unbind(element)
        yield Text(Place(element), element.text or "", marked, fixed=fixed)
    elif not fixed:
        yield Text(Hyphen(element), HYPHENS[name], marked)


def is_computed(element: _Element, fields: Iterable["Field"]) -> bool:
    """Whether a field around an element, or one of those that are open, shows what Word computes."""
    around = element.iterancestors(within(element, "fldSimple"))
    simple = (Field(each.get(within(each, "instr"), ""), True) for each in around)
    return any(field.is_computed for field in (*fields, *simple))


def follow(fields: list["Field"], mark: str | None) -> None:
    """Open a field, show what it shows, or close it, as a mark says."""
    if mark == "begin":
        fields.append(Field())
    elif fields and mark == "separate":
        fields[-1].shows = True
    elif fields and mark == "end":
        fields.pop()


def unbind(text: _Element) -> None:
    """Let the controls around a text show it. Word would put a property of the document there instead, such
    as its title, which stays as it is.
    """
    for control in text.iterancestors(within(text, "sdt")):
        for binding in control.findall("{*}sdtPr/{*}dataBinding"):
            binding.getparent().remove(binding)


def turn(text: _Element, from_right: bool) -> None:
    """Set which way a text is written, for its run, its paragraph and the tables around it."""
    if QName(text).namespace == DRAWING:
        turn_drawn(text, from_right)
        return
    run, paragraph = (next(text.iterancestors(within(text, name))) for name in ("r", "p"))
    looks = child_of(run, "rPr")
    switch(looks, "rtl", from_right, before=BEHIND_RTL)
    for name, twin in OF_RTL.items():
        look = looks.find(within(looks, name))
        if from_right and look is not None and looks.find(within(looks, twin)) is None:
            look.addnext(copied := deepcopy(look))
            copied.tag = within(looks, twin)
    switch(child_of(paragraph, "pPr"), "bidi", from_right, before=BEHIND_BIDI)
    for table in paragraph.iterancestors(within(paragraph, "tbl")):
        switch(child_of(table, "tblPr"), "bidiVisual", from_right, before=BEHIND_VISUAL)


def switch(properties: _Element, name: str, on: bool, *, before: Collection[str]) -> None:
    """Set one of some properties on or off, in its place `before` others."""
    child_of(properties, name, before=before).set(within(properties, "val"), str(int(on)))


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
