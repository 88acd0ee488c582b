import pytest

from zsnmt.errors import InputError
from zsnmt.scoring.language_identification import load_identifier
from zsnmt.scoring.lexicon_identifier import LexiconIdentifier, words_of_text

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


def test_without_lexicons_the_words_of_the_training_text_tell(tmp_path) -> None:
    """A name from the other language's text, which is there a hundred times, is none of its words."""
    texts = {
        "b-a.a": "Ka nu.\n" * 100,
        "b-a.b": "Ti bo, ka!\n" + "Ti bo.\n" * 99,
        "c-a.a": "nu\n",
        "c-a.c": "me\n",
    }
    for name, text in texts.items():
        (tmp_path / f"train.{name}").write_text(text, encoding="utf-8")
    identifier, signature = load_identifier("lexicon", ["a", "b", "c"], tmp_path)
    assert identifier.identify(["Nu ka.", "ti", "ka", "me?", "x"]) == ["a", "b", "a", "c", "unknown"]
    assert signature == "lexicon of a b c, the words of the training text"
    with pytest.raises(InputError, match="neither lexicon.d nor training text of d"):
        load_identifier("lexicon", ["a", "b", "d"], tmp_path)


def test_a_language_with_far_less_text_keeps_the_words_that_it_shares_with_others(tmp_path) -> None:
    """Words are compared by their share of each text: ten times as frequent is not too frequent."""
    texts = {"b-a.a": "nu ka\n" * 100, "b-a.b": "nu ti\n" + "ti bo\n" * 9}
    for name, text in texts.items():
        (tmp_path / f"train.{name}").write_text(text, encoding="utf-8")
    words = words_of_text(tmp_path, ["a", "b"])
    assert {language: {*found} for language, found in words.items()} == {
        "a": {"nu", "ka"},
        "b": {"nu", "ti", "bo"},
    }


def test_in_scripts_without_spaces_each_character_is_a_word(tmp_path) -> None:
    """So a new sentence is known by the characters of others, and Japanese from Chinese by its kana."""
    texts = {
        "zh-en.zh": "我喜欢猫。\n他去东京了。\n",
        "zh-en.en": "i like cats .\nhe went to tokyo .\n",
        "ja-en.ja": "私は猫が好きです。\n彼は東京に行きました。\n",
        "ja-en.en": "i like cats .\nhe went to tokyo .\n",
    }
    for name, text in texts.items():
        (tmp_path / f"train.{name}").write_text(text, encoding="utf-8")
    identifier, _ = load_identifier("lexicon", ["en", "zh", "ja"], tmp_path)
    sentences = ["他喜欢东京。", "彼は猫です。", "he likes cats .", "去 tokyo 了"]
    assert identifier.identify(sentences) == ["zh", "ja", "en", "zh"]
