"""The invented languages: the standard ones, and those of a file."""

import json

import pytest

from zsnmt.corpora.invented.grammar import Language
from zsnmt.corpora.invented.languages import read_languages, standard_languages
from zsnmt.errors import InputError


@pytest.mark.parametrize("number", [0, 100])
def test_only_so_many_standard_languages(number: int) -> None:
    with pytest.raises(InputError, match=f"{number} standard languages"):
        standard_languages(number)


def test_languages_are_read_from_a_file(tmp_path) -> None:
    path = tmp_path / "languages.json"
    rows = [{"name": "a", "family": "x"}, {"name": "b", "family": "x", "word_order": "VSO"}]
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert read_languages(path) == (Language("a", "x"), Language("b", "x", word_order="VSO"))


@pytest.mark.parametrize(
    "content, words",
    [
        ("[", "cannot be read as JSON"),
        ('{"name": "a"}', "not a list of objects"),
        ('[{"name": "a"}]', "language 1: family is missing"),
        ('[{"name": "a", "family": "x", "order": "SVO"}]', "order is unknown"),
        ('[{"name": "a", "family": "x", "word_order": "OSV"}]', "SVO, SOV, VSO"),
        ('[{"name": "a-b", "family": "x"}]', "'a-b'"),
        ('[{"name": 5, "family": "x"}]', "name 5"),
    ],
)
def test_a_bad_file_of_languages_is_named(tmp_path, content: str, words: str) -> None:
    path = tmp_path / "languages.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words) as error:
        read_languages(path)
    assert str(path) in str(error.value)
