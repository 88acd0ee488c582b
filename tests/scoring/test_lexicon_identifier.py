import pytest

from zsnmt.errors import InputError
from zsnmt.scoring.lexicon_identifier import LexiconIdentifier

IDENTIFIER = LexiconIdentifier({"first": ["nu", "ka", "bo"], "second": ["nu", "ti", "bo"], "third": ["me"]})


def test_the_language_with_most_words_wins_whatever_case_and_punctuation() -> None:
    assert IDENTIFIER.identify(["Ti nu ka ti.", "Ka nu ti , ka ?", "ti me ME!"]) == [
        "second",
        "first",
        "third",
    ]


def test_a_tie_goes_to_the_language_named_first() -> None:
    assert IDENTIFIER.identify(["nu bo", "me ti"]) == ["first", "second"]


def test_a_sentence_without_known_words_is_unknown() -> None:
    assert IDENTIFIER.identify(["", "  ", "xyz.", "?"]) == ["unknown"] * 4


def test_lexicons_are_read_from_the_folder_of_a_corpus(tmp_path) -> None:
    (tmp_path / "lexicon.a").write_text("ka\nnu\n", encoding="utf-8")
    (tmp_path / "lexicon.b").write_text("ti\n", encoding="utf-8")
    assert LexiconIdentifier.from_folder(tmp_path, ["b", "a"]).identify(["Nu.", "Ti?", "nu ti"]) == [
        "a",
        "b",
        "b",
    ]


def test_a_missing_or_empty_lexicon_is_named(tmp_path) -> None:
    (tmp_path / "lexicon.a").write_text("", encoding="utf-8")
    for language in ("a", "b"):
        with pytest.raises(InputError, match=rf"lexicon\.{language}"):
            LexiconIdentifier.from_folder(tmp_path, [language])
