"""Lines translated some at a time: those of a stream, or of a file, where a command goes on with another."""

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from tqdm import tqdm

from zsnmt.errors import InputError
from zsnmt.files.blocks import Blocks, writing_blocks
from zsnmt.files.checksums import checksum_of
from zsnmt.inference.confidence import scored_lines
from zsnmt.inference.engines import gpu_of
from zsnmt.inference.translation import Legs, n_best_row, row
from zsnmt.inference.translator import Line, Translator
from zsnmt.text.lines import encode, iterate_stream, open_file


class LineFile:
    """A file of lines that is open, the `number` of its lines, each of which was checked, and their
    `checksum`.
    """

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path, self.file, self.number = path, file, 0
        self.begun = self.state()
        checksum = hashlib.sha256()
        for line in self.lines():
            checksum.update(f"{line}\n".encode())
            self.number += 1
        self.checksum = checksum.hexdigest()

    def lines(self, after: int = 0) -> Iterator[str]:
        """The lines after so many, any of which may be empty."""
        self.file.seek(0)
        return islice(iterate_stream(self.file, self.path, allow_empty_lines=True), after, None)

    def state(self) -> tuple[int, int]:
        """What changes when the file is written to: its size, and a time."""
        status = os.fstat(self.file.fileno())
        return status.st_size, status.st_mtime_ns

    def check_unchanged(self) -> None:
        """`InputError` if the file was written to since it was opened; one in its place is not read."""
        if self.state() != self.begun:
            raise InputError(
                f"{self.path} was changed while it was translated; run the same command again, which "
                "translates what is there now"
            )


@contextmanager
def open_lines(path: Path) -> Iterator[LineFile]:
    """A file of lines; raises what `iterate_lines` does, for any line of it."""
    with open_file(path) as file:
        yield LineFile(path, file)


@dataclass(frozen=True)
class LineTranslation:
    """Lines turned into rows, `at_a_time` of them together, or all: the translation of each, with scores in a
    `form` if there is one (`zsnmt.inference.translation.row`), or the `nbest` translations of each.
    """

    translator: Translator
    legs: Legs
    form: str | None = None
    agreement: bool = False
    nbest: int | None = None
    at_a_time: int | None = None

    def chunks(self, lines: Iterator[str], *, done: int = 0, total: int | None = None) -> Iterator[list[str]]:
        """The rows of some lines at a time; so many are `done` before, of a `total` if it is known."""
        with tqdm(unit=" lines", initial=done, total=total, disable=None) as bar:
            while chunk := list(islice(lines, self.at_a_time)):
                yield self.rows(chunk, done + 1, bar)
                done += len(chunk)

    def rows(self, lines: Sequence[str], first_line: int, bar: tqdm) -> list[str]:
        """What is written of some lines."""
        if self.nbest:
            return [*self.n_best_rows(lines, first_line, bar)]
        translations = scored_lines(
            self.translator,
            lines,
            self.legs,
            agreement=self.agreement,
            first_line=first_line,
            finished=bar.update,
        )
        return [row(each, self.form, self.agreement) for each in translations]

    def n_best_rows(self, lines: Sequence[str], first_line: int, bar: tqdm) -> Iterator[str]:
        """A row for each of the best translations of some lines."""
        (direction,) = self.translator.legs(*self.legs)
        asked = [Line(line, direction, self.nbest or 1) for line in lines]
        found = self.translator.n_best(asked, first_line=first_line, finished=bar.update)
        for number, translations in enumerate(found, start=first_line - 1):
            for each in translations:
                yield n_best_row(number, each)

    def write_file(self, text: LineFile, output: Path, models: Sequence[str]) -> None:
        """Write what is made of a file by models of these checksums, after what was written of the same
        before; says how much that is, here and when this is stopped.
        """
        with writing_blocks(output, self.key(text, models)) as blocks:
            if blocks.done:
                say(f"{blocks.done:,} of {text.number:,} lines were translated before")
            try:
                self.write_blocks(text, output, blocks)
            except InputError:
                raise
            except BaseException:
                if blocks.done:
                    say(f"{blocks.done:,} of {text.number:,} lines are kept; the same command goes on there")
                raise

    def write_blocks(self, text: LineFile, output: Path, blocks: Blocks) -> None:
        """Write a block for each chunk of the lines that are left."""
        lines = text.lines(blocks.done)
        for rows in self.chunks(lines, done=blocks.done, total=text.number):
            text.check_unchanged()
            numbered = enumerate(rows, start=blocks.done + 1)
            content = b"".join(encode(row, output, number) for number, row in numbered)
            blocks.add(content, min(self.at_a_time or text.number, text.number - blocks.done))

    def key(self, text: LineFile, models: Sequence[str]) -> str:
        """The checksum of all that decides what is written."""
        translator = self.translator
        # Batches on a GPU are by its memory, which may have changed since a stop.
        tokens = translator.batch_tokens if gpu_of(translator.engine) is None else 0
        searches = (translator.settings, translator.direct.settings)
        engine = (translator.signature, *searches, translator.method, tokens)
        wanted = (self.legs, self.form, self.agreement, self.nbest, self.at_a_time)
        return checksum_of({"text": text.checksum, "models": models, "engine": engine, "wanted": wanted})


def say(line: str) -> None:
    print(line, file=sys.stderr)
