"""Word documents (.docx): paragraphs of the text, of tables, headers, footers, notes and text boxes."""

import io
import zipfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import docx
from docx.opc.exceptions import PackageNotFoundError
from docx.opc.part import Part, XmlPart
from docx.oxml.ns import qn
from lxml import etree

from zsnmt.documents.passages import Passage, Run
from zsnmt.errors import InputError
from zsnmt.text.lines import open_file

LARGEST = 2**30  # bytes of a document when it is unpacked
PARAGRAPH, TEXT, RUN, LOOK, LINK = (qn(f"w:{name}") for name in ("p", "t", "r", "rPr", "hyperlink"))
BREAKS = frozenset(qn(f"w:{name}") for name in ("br", "cr", "tab"))
IGNORED = frozenset(qn(f"w:{name}") for name in ("lang", "noProof"))  # of a look
PRESERVE = "{http://www.w3.org/XML/1998/namespace}space"
NOTES = ("/word/footnotes.xml", "/word/endnotes.xml", "/word/comments.xml")  # which python-docx leaves packed


class Word:
    """A Word document. A passage is a paragraph, or its part before or after a tab or line break; neighbours
    of one look are one run.
    """

    def __init__(self, path: Path) -> None:
        with open_file(path):  # that it is missing is said as of other files
            pass
        try:
            check_size(path)
            self.document = docx.Document(str(path))
        except (
            PackageNotFoundError,
            zipfile.BadZipFile,
            KeyError,
            ValueError,
            etree.XMLSyntaxError,
        ) as error:
            raise InputError(
                f"{path} is not a Word document (.docx): {error}; save it again as one"
            ) from None
        self.notes: list[tuple[Part, etree._Element]] = []
        self.runs: list[list[list[etree._Element]]] = []  # the texts of each run of each passage
        self.passages: list[Passage] = []
        for root in self.roots():
            for paragraph in root.iter(PARAGRAPH):
                for stretch in stretches(paragraph):
                    runs = [[*group] for _, group in groupby(stretch, look)]
                    texts = [Run("".join(text.text or "" for text in group)) for group in runs]
                    if any(run.text.strip() for run in texts):
                        self.runs.append(runs)
                        self.passages.append(Passage(tuple(texts)))

    def roots(self) -> Iterator[etree._Element]:
        """The trees of all parts with text."""
        for part in self.document.part.package.iter_parts():
            if isinstance(part, XmlPart):
                yield part.element
            elif str(part.partname) in NOTES:
                self.notes.append((part, etree.fromstring(part.blob)))
                yield self.notes[-1][1]

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        for runs, texts in zip(self.runs, translations):
            for (first, *others), text in zip(runs, texts):
                first.text = text
                first.set(PRESERVE, "preserve")
                for other in others:
                    other.text = ""
        for part, root in self.notes:
            part._blob = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
        file = io.BytesIO()
        self.document.save(file)
        return file.getvalue()


def check_size(path: Path) -> None:
    """`ValueError` for a document that unpacks to more than any real one."""
    with zipfile.ZipFile(path) as packed:
        if sum(member.file_size for member in packed.infolist()) > LARGEST:
            raise ValueError("it would take more than 1 GiB unpacked")


def stretches(paragraph: etree._Element) -> Iterator[list[etree._Element]]:
    """The texts of a paragraph itself, not of text boxes in it, between breaks."""
    found: list[etree._Element] = []
    for element in paragraph.iter(TEXT, *BREAKS):
        if next(element.iterancestors(PARAGRAPH)) is not paragraph:
            continue
        if element.tag == TEXT:
            found.append(element)
        else:
            yield found
            found = []
    yield found


def look(text: etree._Element) -> tuple[bytes, int]:
    """What texts of one look have in common: the properties of their run, and the link that they are in."""
    run = next(text.iterancestors(RUN))
    properties = run.find(LOOK)
    shown = [] if properties is None else [each for each in properties if each.tag not in IGNORED]
    link = next(text.iterancestors(LINK), None)
    return b"".join(map(etree.tostring, shown)), id(link)
