"""What counts as the same sentence, and where held-out sentences are found in training text."""

from pathlib import Path

import pytest

from zsnmt.corpora.overlap import (
    Overlap,
    Place,
    find_overlaps,
    held_out_sentences,
    normalise,
    normalised_sentences,
    without_sentences,
)
from zsnmt.text.lines import write_lines

LANGUAGES = ["en", "de", "hi"]


@pytest.mark.parametrize(
    "one, other",
    [
        ("The house, is OLD.", "the house is old"),
        ("Straße", "STRASSE"),
        ("ﬁne", "fine"),  # a ligature
        ("ﬁne №１", "fine No1"),  # with a sign for two letters, and a wide digit
        ("a\u00a0b", "a  b"),
        ("« Oui ! »", "oui"),
        ("cafe\u0301", "café"),
        ("?!", "? !"),
    ],
)
def test_sentences_that_differ_in_case_marks_or_spaces_are_the_same(one, other):
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize("hidden", ["\u200b", "\u200c", "\u200d", "\u2060", "\u00ad", "\ufeff"])
def test_characters_without_a_look_tell_no_sentences_apart(hidden):
    """IndicNLP's normalisation, for one, takes joiners out: training would see the test sentence itself."""
    assert normalise(f"क्{hidden}ष में") == normalise("क्ष में")
    assert normalise(hidden)  # alone they are all that the sentence has


@pytest.mark.parametrize(
    "one, other",
    [
        ("the house", "the houses"),
        ("कि", "की"),  # vowel signs tell words apart
        ("année", "annee"),
        ("1.5", "15"),
        ("?", "!"),
        ("ab", "a b"),
    ],
)
def test_sentences_that_say_something_else_are_not(one, other):
    assert normalise(one) != normalise(other)


def test_a_row_goes_where_any_of_its_sentences_is_left_out():
    rows = [("One.", "Eins."), ("two", "zwei"), ("TWO!", "deux"), ("zwei", "2")]
    assert normalised_sentences(rows) == {"one", "eins", "two", "zwei", "deux", "2"}
    assert without_sentences(rows, {"two"}) == [rows[0], rows[3]]
    assert without_sentences(rows, {"zwei": 1}) == [rows[0], rows[2]]


@pytest.fixture
def folder(tmp_path) -> Path:
    """Multiway test sentences, a valid set of one pair; training with a known place for each overlap."""
    write_lines(tmp_path / "test.en", ["One test.", "Two tests!"])
    write_lines(tmp_path / "test.de", ["Ein Test.", "Zwei Tests!"])
    write_lines(tmp_path / "test.hi", ["एक", "दो"])
    write_lines(tmp_path / "valid.de-en.de", ["Gültig."])
    write_lines(tmp_path / "valid.de-en.en", ["Valid."])
    write_lines(tmp_path / "train.de-en.de", ["neu", "ZWEI tests", "gültig", "auch neu"])
    write_lines(tmp_path / "train.de-en.en", ["new", "something else", "valid", "also new"])
    write_lines(tmp_path / "train.hi-en.hi", ["नया", "एक।"])
    write_lines(tmp_path / "train.hi-en.en", ["zwei tests", "one"])
    return tmp_path


def test_every_held_out_sentence_has_its_first_place(folder):
    places = held_out_sentences(folder, LANGUAGES)
    assert len(places) == 8
    assert places["zwei tests"] == Place(folder / "test.de", 2) and places["valid"] == Place(
        folder / "valid.de-en.en", 1
    )


def test_overlaps_are_found_on_either_side_and_in_any_language(folder):
    held_out = held_out_sentences(folder, LANGUAGES)
    found = list(find_overlaps(folder, ("en", "de"), held_out))
    assert [len(overlaps) for overlaps in found] == [0, 1, 2, 0]
    german, english = folder / "train.de-en.de", folder / "train.de-en.en"
    assert found[1] == [Overlap(Place(german, 2), Place(folder / "test.de", 2), "ZWEI tests")]
    assert {overlap.training for overlap in found[2]} == {Place(german, 3), Place(english, 3)}
    assert [overlap.split for overlap in found[2]] == ["valid", "valid"]
    hindi = list(find_overlaps(folder, ("en", "hi"), held_out))
    assert [overlap.held_out for overlap in hindi[0]] == [
        Place(folder / "test.de", 2)
    ]  # German text in an English file
    assert [overlap.sentence for overlap in hindi[1]] == ["एक।"]


def test_another_form_of_the_same_letters_hides_no_overlap(tmp_path):
    write_lines(tmp_path / "test.en", ["No1 is fine."])
    write_lines(tmp_path / "test.de", ["Es ist gut."])
    write_lines(tmp_path / "train.de-en.de", ["Das geht.", "neu"])
    write_lines(tmp_path / "train.de-en.en", ["№１ is ﬁne", "new"])
    held_out = held_out_sentences(tmp_path, LANGUAGES)
    found = list(find_overlaps(tmp_path, ("en", "de"), held_out))
    assert [[overlap.sentence for overlap in overlaps] for overlaps in found] == [["№１ is ﬁne"], []]


def test_an_overlap_agrees_with_a_comparison_of_all_with_all(folder):
    held_out = held_out_sentences(folder, LANGUAGES)
    lines = (folder / "train.de-en.de").read_text().split("\n")[:-1]
    tests = [
        line
        for file in [*folder.glob("test.*"), *folder.glob("valid.*")]
        for line in file.read_text().split("\n")[:-1]
    ]
    naive = [any(normalise(line) == normalise(test) for test in tests) for line in lines]
    german = folder / "train.de-en.de"
    assert naive == [
        any(o.training.file == german for o in found)
        for found in find_overlaps(folder, ("en", "de"), held_out)
    ]
