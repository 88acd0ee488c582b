"""Which translations of a teacher are not text to learn from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zsnmt.corpora.cleaning import COPY, EMPTY, LANGUAGE, LENGTH, are_unlike
from zsnmt.corpora.judging import OVERLAP
from zsnmt.corpora.overlap import Place, normalise
from zsnmt.languages import Direction
from zsnmt.scoring.language_identification import Identifier
from zsnmt.text.pipeline import TextPipeline

REASONS = EMPTY, COPY, LENGTH, LANGUAGE, OVERLAP
TAGS = 2  # at the head of a source, at most


class Row(NamedTuple):
    """A line of a training pair, counted from 1: both sides, and the teacher's translation."""

    line: int
    pivot: str
    authentic: str
    synthetic: str


@dataclass(frozen=True)
class Filters:
    """What a translation must not be.

    * `empty`;
    * a `copy` of the pivot side, or of the authentic one where the teacher `reads_authentic` sentences;
    * of a `length` more than 2.5 times or less than 1/2.5 of the authentic side's, in pieces with the
      end-of-sentence symbol, or too long for a model that reads `longest` tokens;
    * in another `language`, by the identifier, None for any;
    * in `overlap` with the sentences `held_out` of validation and test sets; nor may the authentic side be.
    """

    pipeline: TextPipeline
    identifier: Identifier | None
    held_out: Mapping[str, Place]
    longest: int
    reads_authentic: bool = False

    def reasons(self, rows: Sequence[Row], direction: Direction) -> list[str]:
        """Why each row is dropped, the first of `REASONS` that holds; empty for one that is kept.

        The direction is from the authentic side to the synthetic one.
        """
        texts = [row.authentic for row in rows], [row.synthetic for row in rows]
        lengths = zip(
            *(lengths_of(lines, language, self.pipeline) for lines, language in zip(texts, direction))
        )
        identified = self.identifier.identify(texts[1]) if self.identifier else [direction.target] * len(rows)
        return [
            self.reason(row, of_row, language == direction.target)
            for row, of_row, language in zip(rows, lengths, identified)
        ]

    def reason(self, row: Row, lengths: tuple[int, int], in_language: bool) -> str:
        """Why a row is dropped, the first of `REASONS` that holds; empty for one that is kept. `lengths` are
        those of its two sides, in pieces with the end-of-sentence symbol.
        """
        synthetic = normalise(row.synthetic)
        if not synthetic:
            return EMPTY
        read = [row.pivot, row.authentic] if self.reads_authentic else [row.pivot]
        if synthetic in map(normalise, read):
            return COPY
        if are_unlike(lengths) or max(lengths) + TAGS > self.longest:
            return LENGTH
        if not in_language:
            return LANGUAGE
        if synthetic in self.held_out or normalise(row.authentic) in self.held_out:
            return OVERLAP
        return ""


def lengths_of(lines: Sequence[str], language: str, pipeline: TextPipeline) -> list[int]:
    """The number of pieces of each line, with the end-of-sentence symbol."""
    return [len(pieces) + 1 for pieces in pipeline.encode_lines(lines, language)]
