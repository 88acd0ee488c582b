"""What is not text to learn from, and why."""

import pytest

from tests.distillation.conftest import PIVOT
from zsnmt.corpora.overlap import held_out_sentences
from zsnmt.corpora.parallel_text import find_pair
from zsnmt.distillation.filters import COPY, EMPTY, LANGUAGE, LENGTH, OVERLAP, Filters, Row
from zsnmt.languages import Direction
from zsnmt.scoring.lexicon_identifier import LexiconIdentifier
from zsnmt.text.lines import read_lines
from zsnmt.text.pipeline import TextPipeline

DIRECTION = Direction("velan", "tamun")


@pytest.fixture
def filters(made):
    def make(**settings) -> Filters:
        return Filters(
            **{
                "pipeline": TextPipeline.load(made / "data"),
                "identifier": LexiconIdentifier.from_folder(made / "text", [PIVOT, *DIRECTION]),
                "held_out": held_out_sentences(made / "text", [PIVOT, *DIRECTION]),
                "longest": 100,
                **settings,
            }
        )

    return make


@pytest.fixture
def row(made):
    """A line of the training text with the words of its translation."""
    pivot, authentic = (
        read_lines(path)[3] for path in find_pair(made / "text", "train", PIVOT, target="velan")
    )
    words = read_lines(made / "text" / "lexicon.tamun")[: len(authentic.split())]
    return Row(4, pivot, authentic, " ".join(words))


def reason(filters: Filters, row: Row, **changes: str) -> str:
    return filters.reasons([row._replace(**changes)], DIRECTION)[0]


def test_each_reason_is_found_and_a_good_translation_kept(made, filters, row):
    test = read_lines(made / "text" / "test.tamun")[0]
    assert reason(filters(), row) == ""
    assert [reason(filters(), row, synthetic=text) for text in ("", " ")] == [EMPTY] * 2
    assert [reason(filters(), row, synthetic=text) for text in (row.pivot, row.pivot.upper())] == [COPY] * 2
    assert [reason(filters(), row, synthetic=text) for text in ("a", f"{row.synthetic} " * 4)] == [LENGTH] * 2
    english = " ".join(row.pivot.split()[::-1])  # off target, as zero-shot translations mostly are
    for text in (row.authentic, english, " ".join("x" * len(row.authentic.split()))):
        assert reason(filters(), row, synthetic=text) == LANGUAGE
    assert reason(filters(), row._replace(authentic=test), synthetic=test.upper()) == OVERLAP


def test_either_side_may_be_held_out(filters, row):
    both = row._replace(authentic="a b c", synthetic="D e f")
    alike = {"pipeline": Spaces(), "identifier": None}
    assert reason(filters(**alike, held_out={}), both) == ""
    for sentence in ("d e f", "a b c"):  # as they are compared
        assert reason(filters(**alike, held_out={sentence: None}), both) == OVERLAP


def test_what_people_wrote_is_not_to_be_copied_where_the_teacher_reads_it(filters, row):
    anything = {"identifier": None}
    assert reason(filters(**anything), row, synthetic=row.authentic) == ""
    reading = filters(reads_authentic=True, **anything)
    assert reason(reading, row, synthetic=row.authentic) == reason(reading, row, synthetic=row.pivot) == COPY


class Spaces:
    """A pipeline whose pieces are words."""

    def encode_lines(self, lines, language):
        return map(str.split, lines)


def test_lengths_are_compared_in_pieces_with_eos_either_way(filters):
    by_words = filters(pipeline=Spaces(), identifier=None)
    for number, expected in ((9, ""), (10, LENGTH)):  # with EOS 10 and 11 of 4
        short, long = "a b c", " ".join(f"d{word}" for word in range(number))
        assert reason(by_words, Row(1, "pivot", short, long)) == expected
        assert reason(by_words, Row(1, "pivot", long, short)) == expected


def test_a_side_that_the_model_cannot_read_with_two_tags_is_too_long(filters):
    row = Row(1, "pivot", "a b c", "d e f g")
    assert [
        reason(filters(pipeline=Spaces(), identifier=None, longest=longest), row) for longest in (7, 6)
    ] == [
        "",
        LENGTH,
    ]
