"""Plain text: each line is a passage, and empty lines, space and the ends of lines stay."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from zsnmt.documents.passages import Document, Passage, Run
from zsnmt.errors import InputError
from zsnmt.text.lines import open_file, what_else

MARK = "\ufeff"  # of the order of bytes, at the head of some files


class Form(NamedTuple):
    """How a text file is written: the mark of the order of bytes at its head, if any, and what ends its
    lines.
    """

    mark: str
    end: str

    def encoded(self, text: str) -> bytes:
        """A text whose lines end in `\\n`, in this form."""
        return (self.mark + text.replace("\n", self.end)).encode("utf-8")


def form_and_text(source: str) -> tuple[Form, str]:
    """The form of a text file, and its text without the mark, with the ends of lines that it has."""
    text = source.removeprefix(MARK)
    return Form(source[: len(source) - len(text)], "\r\n" if "\r\n" in text else "\n"), text


class PlainText(Document):
    """A text, of which each line is a paragraph; a byte order mark before it stays."""

    def __init__(self, source: str) -> None:
        (self.mark, _), text = form_and_text(source)
        whole = re.findall(r"[^\r\n]*(?:\r\n|[\r\n])|[^\r\n]+$", text)
        lines = [line.rstrip("\r\n") for line in whole]
        self.ends = [line[len(text) :] for line, text in zip(whole, lines)]
        self.passages = [Passage((Run(line),)) for line in lines]

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        lines = ("".join(texts) + end for texts, end in zip(translations, self.ends))
        return (self.mark + "".join(lines)).encode("utf-8")


def read_plain_text(path: Path) -> PlainText:
    """A text file, as `read_text` reads it."""
    return PlainText(read_text(path))


def read_text(path: Path) -> str:
    """The text of a file in UTF-8; `InputError` names the line of a byte that is not, and an empty file."""
    with open_file(path) as file:
        content = file.read()
    if other := what_else(content):
        raise InputError(f"{path} {other}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8; convert the file, for "
            "example with iconv -f latin1 -t utf-8"
        ) from None
    if not text.strip(f"{MARK} \t\r\n"):
        raise InputError(f"{path} is empty; it needs at least one sentence")
    return text
