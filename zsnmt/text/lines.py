"""The lines of a text file: UTF-8, one sentence each, ended by `\\n` alone.

What breaks a rule stops with an InputError that names the file and the line. Nothing is repaired, but, where
a caller wants it, what Windows adds to a file.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from zsnmt.errors import InputError, OnFault, no_file, refuse
from zsnmt.files.replacing import replacing

SPACE = "\u2581"  # to SentencePiece, which marks the beginnings of words with it
UTF_16 = "is in UTF-16, not in UTF-8; convert it with iconv -f utf-16 -t utf-8, or save it again as UTF-8"
BEGINNINGS = {  # of files that are not in UTF-8, or no text
    b"\xff\xfe": UTF_16,
    b"\xfe\xff": UTF_16,
    b"PK\x03\x04": "is an archive, as documents of Office are, and no text; export its text, or unpack it",
    b"\x1f\x8b": "is compressed (.gz), and no text; unpack it first",
    b"%PDF-": "is a PDF, and no text; export its text",
}
# Control characters but the tab; halves of a character, as JSON may have; a byte order mark that tokenisation
# would leave at the start.
FORBIDDEN = re.compile(r"[\x00-\x08\n-\x1f\x7f-\x9f\ud800-\udfff]|^\s*\ufeff")


def iterate_lines(
    path: Path, allow_empty_lines: bool = False, *, of_windows: bool = False, on_fault: OnFault = refuse
) -> Iterator[str]:
    """The lines of a file, one at a time, without their `\\n`; only `\\n` ends a line.

    Raises InputError for a missing or empty file, and, with the line, for a byte that is not UTF-8, a
    byte order mark, a control character other than the tab (a carriage return is one), and, unless
    `allow_empty_lines`, for a line without anything but white space and U+2581, which subword models take for
    a space. An `on_fault` that does not raise is given the error of an empty file and of each such line,
    which then is empty.

    `of_windows`: it may begin with a byte order mark, and its lines end with `\\r\\n`; both are left out.
    """
    with open_file(path) as file:
        lines = without_windows(file) if of_windows else file
        yield from iterate_stream(lines, path, allow_empty_lines, on_fault=on_fault)


def without_windows(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines without the byte order mark and the carriage returns that Windows adds to a file."""
    for number, line in enumerate(lines):
        start = BOM_UTF8 if number == 0 else b""
        yield line.removeprefix(start).removesuffix(b"\n").removesuffix(b"\r") + b"\n"


def iterate_stream(
    file: Iterable[bytes], name: Path | str, allow_empty_lines: bool = False, *, on_fault: OnFault = refuse
) -> Iterator[str]:
    """The lines of an open file, such as `sys.stdin.buffer`, under the rules of `iterate_lines`."""
    number = 0
    for number, line in enumerate(file, start=1):
        if number == 1 and (other := what_else(line)):
            raise InputError(f"{name} {other}")
        try:
            text = decode(line.removesuffix(b"\n"), name, number, allow_empty_lines=allow_empty_lines)
        except InputError as fault:
            on_fault(fault)
            text = ""
        yield text
    if number == 0:
        on_fault(InputError(f"{name} is empty; it needs at least one line"))


def read_lines(path: Path, allow_empty_lines: bool = False) -> list[str]:
    """All lines of a file, under the rules of `iterate_lines`."""
    return list(iterate_lines(path, allow_empty_lines))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes lines that `iterate_lines` can read back, beside `path`, which is replaced at the end.

    Raises InputError for a line that breaks the rules (empty lines may be written); then, and when the
    disk is full, `path` stays as it was.
    """
    with replacing(path) as file:
        for number, line in enumerate(lines, start=1):
            file.write(encode(line, path, number))


def write_rows_of_lines(paths: Sequence[Path], rows: Iterable[Sequence[str]]) -> None:
    """Writes what `write_lines` does to several files in one pass: a row has a line of each."""
    with ExitStack() as stack:
        files = [stack.enter_context(replacing(path)) for path in paths]
        for number, row in enumerate(rows, start=1):
            for path, file, line in zip(paths, files, row, strict=True):
                file.write(encode(line, path, number))


def encode(line: str, path: Path, number: int) -> bytes:
    if fault := find_fault(line):
        raise InputError(f"{path}, line {number}, cannot be written: it {fault}")
    return line.encode("utf-8") + b"\n"


def open_file(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise no_file(path) from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a file of text") from None


def decode(line: bytes, path: Path | str, number: int, allow_empty_lines: bool) -> str:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}, line {number}, byte {error.start + 1}: 0x{line[error.start]:02x} is not UTF-8; "
            f"convert the file, for example with iconv -f latin1 -t utf-8"
        ) from None
    if fault := find_fault(text):
        raise InputError(f"{path}, line {number} {fault}")
    if not allow_empty_lines and is_blank(text):
        what = f"has nothing but {SPACE}, which stands for a space" if text.strip() else "is empty"
        raise InputError(
            f"{path}, line {number} {what}; write a sentence there, or remove the line on both sides"
        )
    return text


def what_else(begin: bytes) -> str | None:
    """What to say of a file that by its beginning is in UTF-16, or no text; None for any other."""
    return next((said for known, said in BEGINNINGS.items() if begin.startswith(known)), None)


def is_blank(line: str) -> bool:
    """Whether subword models see nothing in a line."""
    return not line.replace(SPACE, " ").strip()


def find_fault(line: str) -> str | None:
    """What the contract forbids in a line, and the remedy; None for a line without fault."""
    found = FORBIDDEN.search(line)
    if found is None:
        return None
    if found[0].endswith("\ufeff"):
        return (
            "starts with a byte order mark; save the file without one, or remove it with "
            "sed -i 's/^\\s*\\xEF\\xBB\\xBF//'"
        )
    if found[0] == "\r" and found.end() == len(line):
        return "ends with a carriage return; convert the file with dos2unix, or with sed -i 's/\\r$//'"
    instead = ", or convert the file if it is in UTF-16" if found[0] == "\0" else ""
    what = "half a character," if found[0] >= "\ud800" else "the control character"
    return f"has {what} U+{ord(found[0]):04X} at position {found.end()}; remove it{instead}"
