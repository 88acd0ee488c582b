"""Names of languages and directions, their tags, and which directions are supervised."""

import pytest

from zsnmt.errors import InputError
from zsnmt.languages import (
    LANGUAGES_FILE,
    Direction,
    check_known,
    check_language,
    check_languages,
    language_tag,
    other_pairs,
    parse_direction,
    parse_directions,
    read_languages,
    supervised_directions,
    zero_shot_directions,
)

LANGUAGES = ["en", "de", "it", "nl", "ro"]


@pytest.mark.parametrize("code", ["de", "zh_Hans", "deu", "x1", "D"])
def test_codes_of_languages(code):
    assert check_language(code) == code


@pytest.mark.parametrize("code", ["", "d e", "de-AT", "1x", "_de", "de\n", "dé", "../de", "de.x"])
def test_what_is_no_code_is_refused(code):
    with pytest.raises(InputError, match="is not a language code"):
        check_language(code)


def test_a_set_of_languages_has_two_or_more_each_once():
    assert check_languages(iter(LANGUAGES)) == LANGUAGES
    for wrong in ([], ["en"], ["en", "de", "en"]):
        with pytest.raises(InputError, match="two or more, each once"):
            check_languages(wrong)


def test_directions_are_read_and_written():
    direction = parse_direction(" de-zh_Hans\n")
    assert direction == Direction("de", "zh_Hans") and str(direction) == "de-zh_Hans"
    assert parse_directions("de-en,en-de") == [("de", "en"), ("en", "de")]


@pytest.mark.parametrize(
    "text", ["", "de", "de-", "-de", "-", "de-de", "de-en-it", "de–en", "de,en", "de- en"]
)
def test_what_is_no_direction_is_refused(text):
    with pytest.raises(InputError, match="is not a direction|is not a language code"):
        parse_direction(text)


@pytest.mark.parametrize("text", ["", "de-en,", ",de-en", "de-en;en-de", "de-en,,en-de"])
def test_a_list_with_what_is_no_direction_is_refused(text):
    with pytest.raises(InputError, match="is not a direction"):
        parse_directions(text)


@pytest.mark.parametrize("number", range(2, 6))
def test_supervised_and_zero_shot_directions_are_all_directions(number):
    languages = LANGUAGES[:number]
    supervised, zero_shot = supervised_directions(languages, "en"), zero_shot_directions(languages, "en")
    assert len(supervised) == 2 * (number - 1)
    assert len(zero_shot) == (number - 1) * (number - 2)
    everything = {(source, target) for source in languages for target in languages if source != target}
    assert len(supervised + zero_shot) == len(everything) and {*supervised, *zero_shot} == everything
    assert all("en" in direction for direction in supervised)
    assert not any("en" in direction for direction in zero_shot)


def test_the_pivot_need_not_be_first():
    assert set(supervised_directions(LANGUAGES, "it")) == set(supervised_directions(sorted(LANGUAGES), "it"))


def test_a_tag_is_fairseqs_own():
    from fairseq.data.multilingual.multilingual_utils import LangTokStyle, get_lang_tok

    for language in LANGUAGES:
        assert language_tag(language) == get_lang_tok(language, LangTokStyle.multilingual.value)


def test_an_unknown_language_names_the_known_ones():
    assert check_known("de", iter(LANGUAGES)) == "de"
    with pytest.raises(InputError, match="unknown language 'fr': this model knows en, de, it, nl, ro"):
        check_known("fr", iter(LANGUAGES))


def test_the_languages_of_a_folder_keep_their_order(tmp_path):
    (tmp_path / LANGUAGES_FILE).write_text("nl\nen\nde\n")
    assert read_languages(tmp_path) == ["nl", "en", "de"]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "two or more"),
        (b"en\n", "two or more"),
        (b"en\nde\nen\n", "each once"),
        (b"en de\n", "'en de' is not a language code"),
        (b"en\n\nde\n", "'' is not a language code"),
        (b"en\nd\xe9\n", "utf-8"),
    ],
)
def test_a_broken_list_of_languages_names_its_file(tmp_path, content, message):
    (tmp_path / LANGUAGES_FILE).write_bytes(content)
    with pytest.raises(InputError, match=f"{LANGUAGES_FILE}: .*{message}"):
        read_languages(tmp_path)


def test_a_folder_without_languages_says_how_to_make_one(tmp_path):
    with pytest.raises(InputError, match=f"{LANGUAGES_FILE} is missing.*zsnmt prepare"):
        read_languages(tmp_path)


def test_other_pairs_are_those_not_given_in_either_order():
    assert other_pairs(["en", "de", "fr"], [("de", "en")]) == ["en-fr", "de-fr"]
    assert other_pairs(["en", "de"], [("en", "de")]) == []
