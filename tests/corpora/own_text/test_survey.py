"""What is counted of a person's text."""

from pathlib import Path
from unittest import mock

import pytest

from zsnmt.corpora.own_text.survey import survey
from zsnmt.corpora.own_text.table import Table
from zsnmt.errors import InputError


def table(split: str, languages: str, *rows: str, times: int = 100) -> Table:
    """Rows as words with | between them, each so many times."""
    read = [tuple(row.split("|")) for row in rows]
    return Table(split, tuple(languages.split()), (Path("x"),), rows=lambda on_fault: iter(read * times))


def test_words_of_both_sides_pairs_and_scripts():
    tables = [
        table("train", "en de", "a bc d|e f"),
        table("train", "de en", "e f|a g"),
        table("train", "en ru", "a|да нет", "b|нет"),
        table("valid", "en de", "a|b", times=1),
    ]
    found = survey(tables, ("en", "de", "ru"))
    assert found.pairs == {"en-de": 200, "en-ru": 200}
    assert found.words == 100 * (3 + 2 + 2 + 2 + 1 + 2 + 1 + 1)
    assert found.different_words == len("a bc d e f g да нет b".split())
    assert found.characters == len({*"a bc d e f g да нет b"})
    assert found.scripts == {"en": "Latin", "de": "Latin", "ru": "Cyrillic"}
    assert found.lacking == ("valid", "test") and not found.unspaced


def test_words_that_differ_in_their_digits_alone_count_once():
    numbered = [f"screw A-{number}|Schraube A-{number} M{number % 7}" for number in range(200)]
    found = survey([table("train", "en de", *numbered, times=1)], ("en", "de"))
    assert found.words == 200 * 5 and found.different_words == len({"screw", "Schraube", "A-0", "M0"})


def test_a_script_without_spaces_is_counted_by_its_characters():
    found = survey([table("train", "en zh", "a b|我不知道。")], ("en", "zh"))
    assert found.words == 100 * 2 + 100 * 5 // 2 and found.unspaced == ["zh"]


def test_a_table_in_several_languages_counts_the_pairs_with_the_pivot_that_have_both():
    found = survey([table("train", "de en fr", "a|b|c", "a||c", "a|b|")], ("en", "de", "fr"))
    assert found.pairs == {"en-de": 200, "en-fr": 100} and found.words == 600
    assert found.beside_pivot == ("de-fr",)
    all_pairs = survey([table("train", "de en fr", "a|b|c", "a|b|")], ("en", "de", "fr"), all_pairs=True)
    assert all_pairs.pairs == {"en-de": 200, "en-fr": 100, "de-fr": 100} and not all_pairs.beside_pivot


def test_a_table_in_several_languages_is_read_once():
    read = mock.Mock(side_effect=lambda on_fault: iter([("a", "b", "c")] * 100))
    tables = [Table(split, ("en", "de", "fr"), (), read) for split in ("train", "test")]
    assert survey(tables, ("en", "de", "fr")).pairs == {"en-de": 100, "en-fr": 100}
    assert read.call_count == 2


def test_a_language_with_little_text_is_named_with_what_to_do():
    tables = [table("train", "en de", "a|b"), table("train", "en fr", "a|b", times=99)]
    with pytest.raises(
        InputError, match="fr has 99 sentence pairs .* needs 100; add text, or leave it out: "
    ):
        survey(tables, ("en", "de", "fr"))
    assert survey(tables, ("en", "de")).pairs == {"en-de": 100}
    with pytest.raises(
        InputError, match="de has 99 sentence pairs to train on, and a language needs 100; add text$"
    ):
        survey([table("train", "en de", "a|b", times=99)], ("en", "de"))


def test_all_languages_with_little_text_are_named_at_once():
    """So that the languages of the remedy have enough."""
    times = {"de": 50, "fr": 100, "it": 99, "nl": 120}
    tables = [table("train", f"en {language}", "a|b", times=number) for language, number in times.items()]
    message = (
        "de has 50 sentence pairs to train on, it 99, and a language needs 100; add text, or leave them out: "
        "--languages en fr nl$"
    )
    with pytest.raises(InputError, match=message):
        survey(tables, ("en", *times))


def test_held_out_text_of_some_pairs_is_lacking_in_the_others():
    trained = [table("train", "en de", "a|b"), table("train", "en fr", "a|b")]
    sets = [table("valid", "de en fr", "a|b|c"), table("test", "de en", "a|b")]
    assert survey([*trained, *sets], ("en", "de", "fr")).lacking == ("test",)


def test_a_fault_in_a_held_out_set_is_told_of_too():
    def rows(on_fault):
        raise InputError("valid.de is empty")
        yield

    with pytest.raises(InputError, match="valid.de is empty"):
        survey([table("train", "en de", "a|b"), Table("valid", ("en", "de"), (), rows)], ("en", "de"))
