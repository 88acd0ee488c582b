"""Word documents (.docx): paragraphs of the text, of tables, headers, footers, notes and text boxes."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import docx
from docx.opc.part import Part, XmlPart
from docx.oxml.ns import qn
from lxml import etree

from zsnmt.documents.passages import Document, Passage, Run
from zsnmt.errors import InputError
from zsnmt.files.archives import unpacked_size
from zsnmt.text.lines import open_file

LARGEST = 2**30  # bytes of a document when it is unpacked
PARAGRAPH, TEXT, RUN, LOOK = (qn(f"w:{name}") for name in ("p", "t", "r", "rPr"))
LINK, CONTROL = qn("w:hyperlink"), qn("w:sdt")  # a control has content, such as a field of a form
FIELD, SIMPLE_FIELD, INSTRUCTION = (qn(f"w:{name}") for name in ("fldChar", "fldSimple", "instrText"))
FIELD_KIND, INSTRUCTION_OF = qn("w:fldCharType"), qn("w:instr")
MARKS = frozenset(
    map(
        qn,
        "w:footnoteReference w:endnoteReference w:commentReference w:drawing w:pict w:object w:sym "
        "w:noBreakHyphen w:softHyphen w:bookmarkStart w:bookmarkEnd m:oMath".split(),
    )
)
BREAKS = frozenset(qn(f"w:{name}") for name in ("br", "cr", "tab", "ptab"))
IGNORED = frozenset(qn(f"w:{name}") for name in ("lang", "noProof"))  # of a look
PRESERVE = "{http://www.w3.org/XML/1998/namespace}space"
PARSER = etree.XMLParser(resolve_entities=False)  # an entity may name a file of this machine
NOTES = ("/word/footnotes.xml", "/word/endnotes.xml", "/word/comments.xml")  # which python-docx leaves packed


class Word(Document):
    """A Word document. A passage is a paragraph, or its part before or after a tab or line break; neighbours
    of one look are one run, unless the mark of a note, a picture or a field is between them. What a field
    shows, such as a page's number, is fixed, but for links.
    """

    def __init__(self, path: Path) -> None:
        with open_file(path):  # that it is missing is said as of other files
            pass
        try:
            if unpacked_size(path) > LARGEST:
                raise ValueError("it would take more than 1 GiB unpacked")
            self.document = docx.Document(str(path))
            self.notes: list[tuple[Part, etree._Element]] = []
            trees = [*self.roots()]
        except InputError:
            raise
        except Exception as error:  # of many kinds, for damage of the archive, of its index and of its parts
            raise InputError(
                f"{path} is not a Word document (.docx), or is protected or damaged ({error}); save it again "
                "as one"
            ) from None
        self.runs: list[list[list[etree._Element]]] = []  # the texts of each run of each passage
        self.passages: list[Passage] = []
        for root in trees:
            for paragraph in root.iter(PARAGRAPH):
                for stretch in stretches(paragraph):
                    groups = [
                        (key, [each.element for each in group]) for key, group in groupby(stretch, look)
                    ]
                    texts = [
                        Run("".join(text.text or "" for text in group), fixed=fixed)
                        for (fixed, *_), group in groups
                    ]
                    if any(run.text.strip() for run in texts if not run.fixed):
                        self.runs.append([[] if fixed else group for (fixed, *_), group in groups])
                        self.passages.append(Passage(tuple(texts)))

    def roots(self) -> Iterator[etree._Element]:
        """The trees of all parts with text."""
        for part in self.document.part.package.iter_parts():
            if isinstance(part, XmlPart):
                yield part.element
            elif str(part.partname) in NOTES:
                self.notes.append((part, etree.fromstring(part.blob, PARSER)))
                yield self.notes[-1][1]

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        for runs, texts in zip(self.runs, translations):
            for of_run, text in zip(runs, texts):
                for number, element in enumerate(of_run):  # none of what is fixed
                    element.text = "" if number else text
                    element.set(PRESERVE, "preserve")
        for part, root in self.notes:
            part._blob = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
        file = io.BytesIO()
        self.document.save(file)
        return file.getvalue()


class Text(NamedTuple):
    """A text of a paragraph, whether it is what a field shows, and how many marks come before it."""

    element: etree._Element
    fixed: bool
    marks: int


def stretches(paragraph: etree._Element) -> Iterator[list[Text]]:
    """The texts of a paragraph itself, not of text boxes in it, between breaks."""
    found: list[Text] = []
    fields: list[Field] = []  # that are open
    marks = 0
    for element in paragraph.iter(TEXT, INSTRUCTION, FIELD, *MARKS, *BREAKS):
        if next(element.iterancestors(PARAGRAPH)) is not paragraph:
            continue
        if element.tag == TEXT:
            simple = [
                Field(each.get(INSTRUCTION_OF, ""), True) for each in element.iterancestors(SIMPLE_FIELD)
            ]
            found.append(Text(element, any(field.is_computed for field in (*fields, *simple)), marks))
        elif element.tag in BREAKS:
            yield found
            found = []
        elif element.tag == INSTRUCTION:
            if fields:
                fields[-1].instruction += element.text or ""
        else:
            marks += 1
            kind = element.get(FIELD_KIND) if element.tag == FIELD else None
            if kind == "begin":
                fields.append(Field())
            elif fields and kind == "separate":
                fields[-1].shows = True
            elif fields and kind == "end":
                fields.pop()
    yield found


@dataclass
class Field:
    """What a field is to show, and whether that begins."""

    instruction: str = ""
    shows: bool = False

    @property
    def is_computed(self) -> bool:
        """Whether a text here is a value that Word fills in, and not what a person wrote for a link."""
        return self.shows and not self.instruction.strip().upper().startswith("HYPERLINK")


def look(text: Text) -> tuple[bool, int, bytes, etree._Element | None, etree._Element | None]:
    """What texts of one run have in common: whether they are fixed, the marks before them, the properties of
    their run, and the link and the control that they are in.
    """
    run = next(text.element.iterancestors(RUN))
    properties = run.find(LOOK)
    shown = [] if properties is None else [each for each in properties if each.tag not in IGNORED]
    link, control = (next(text.element.iterancestors(tag), None) for tag in (LINK, CONTROL))
    return text.fixed, text.marks, b"".join(map(etree.tostring, shown)), link, control
