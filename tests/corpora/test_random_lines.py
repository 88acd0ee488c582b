"""Which lines are drawn from the files of language pairs, and what is refused."""

import pytest

from zsnmt.corpora.random_lines import random_lines
from zsnmt.errors import InputError
from zsnmt.text.lines import write_lines

COUNTS = {"de-en": 30, "en-it": 7}  # pairs, named in both ways


@pytest.fixture
def text(tmp_path):
    for pair, count in COUNTS.items():
        for language in pair.split("-"):
            write_lines(
                tmp_path / f"train.{pair}.{language}", (f"{language} {pair} {line}" for line in range(count))
            )
    write_lines(tmp_path / "test.de", ["de test"])
    return tmp_path


def all_lines(text, language):
    return [
        line for file in sorted(text.glob(f"train.*.{language}")) for line in file.read_text().splitlines()
    ]


def test_lines_are_those_of_all_pairs_once_in_their_order_and_as_many_of_each(text):
    drawn = random_lines(text, "train", ["en", "de"], 20)
    assert [*drawn] == ["en", "de"]
    for language, lines in drawn.items():
        places = [all_lines(text, language).index(line) for line in lines]
        assert len(places) == 20 and places == sorted({*places})
    assert {line.split()[1] for line in drawn["en"]} == {*COUNTS}  # of 20 from 37, 7 of them in a pair
    assert [line.split()[2] for line in drawn["en"]] != [line.split()[2] for line in drawn["de"]]


def test_the_language_with_the_fewest_lines_bounds_all(text):
    drawn = random_lines(text, "train", ["en", "de", "it"], 20)
    assert {len(lines) for lines in drawn.values()} == {7} and drawn["it"] == all_lines(text, "it")


def test_the_seed_decides_and_other_languages_do_not(text):
    first, again, other = (random_lines(text, "train", ["de", "en"], 9, seed) for seed in (1, 1, 2))
    assert first == again and all(first[language] != other[language] for language in first)
    assert random_lines(text, "train", ["de"], 9)["de"] == first["de"]


def test_every_line_has_the_same_chance(text):
    drawn = [line for seed in range(300) for line in random_lines(text, "train", ["en"], 4, seed)["en"]]
    share = sum("en-it" in line for line in drawn) / len(drawn)
    assert abs(share - 7 / 37) < 4 * (7 * 30 / 37**2 / len(drawn)) ** 0.5  # four deviations


def test_what_cannot_be_drawn_is_refused(text):
    with pytest.raises(
        InputError,
        match="has no file train.xx-yy.fr of any pair; give a folder or a split with text of fr, es",
    ):
        random_lines(text, "train", ["de", "fr", "es"], 5)
    with pytest.raises(InputError, match="has no file test.xx-yy.de"):
        random_lines(text, "test", ["de"], 5)
    with pytest.raises(InputError, match="0 lines of each language are too few"):
        random_lines(text, "train", ["de"], 0)
    with (text / "train.en-it.en").open("ab") as file:
        file.write(b"\xff\n")
    with pytest.raises(InputError, match="train.en-it.en, line 8, byte 1: 0xff is not UTF-8"):
        random_lines(text, "train", ["en"], 5)


def test_all_lines_are_those_of_every_pair_however_many(text):
    drawn = random_lines(text, "train", ["en", "it"], None)
    assert drawn == {language: all_lines(text, language) for language in ("en", "it")}


def test_languages_with_as_many_lines_are_drawn_apart(tmp_path):
    """The same places of both would be parallel text."""
    for language in ("en", "de"):
        write_lines(tmp_path / f"train.de-en.{language}", (f"{language} {n}" for n in range(30)))
    drawn = random_lines(tmp_path, "train", ["en", "de"], 9).values()
    one, two = ([line.split()[1] for line in lines] for lines in drawn)
    assert one != two
