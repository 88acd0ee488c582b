"""Held-out sets that are taken from training text: which, how many, and never twice."""

import shutil
from pathlib import Path

import pytest

from zsnmt.corpora.overlap import normalise
from zsnmt.corpora.own_text.held_out import first_lines, hold_out
from zsnmt.errors import InputError

LANGUAGES = ("en", "de", "fr")


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def write_pair(folder: Path, language: str, numbers: range, split: str = "train") -> None:
    """Sentences of a language and of English by number."""
    folder.mkdir(exist_ok=True)
    for side in (language, "en"):
        text = "".join(f"Sentence {number} of {side}.\n" for number in numbers)
        (folder / f"{split}.{language}-en.{side}").write_text(text)


def numbers_in(file: Path) -> list[int]:
    return [int(line.split()[1]) for line in lines(file)]


@pytest.fixture
def text(tmp_path):
    """400 sentences of German and 240 of French, of which 200 are the same in English."""
    write_pair(tmp_path / "text", "de", range(400))
    write_pair(tmp_path / "text", "fr", range(200, 440))
    return tmp_path / "text"


def test_each_pair_gives_a_twentieth_and_lines_stay_translations(text):
    hold_out(text, LANGUAGES, 500)
    assert {file.name: len(lines(file)) for file in sorted(text.glob("*.en"))} == {
        "test.en-de.en": 20,
        "test.en-fr.en": 12,
        "train.de-en.en": 360,
        "train.fr-en.en": 216,
        "valid.en-de.en": 20,
        "valid.en-fr.en": 12,
    }
    for pair in ("en-de", "en-fr", "de-fr"):
        for file in text.glob(f"*.{pair}.*"):
            others = [other for other in text.glob(f"{file.stem}.*") if other != file]
            assert [numbers_in(file)] == [numbers_in(other) for other in others]
    of_de = [set(numbers_in(file)) for file in text.glob("*.de") if "fr" not in file.name]
    assert sum(map(len, of_de)) == 400 == len(set.union(*of_de))


def test_a_text_that_repeats_its_sentences_keeps_most_of_them_for_training(tmp_path):
    write_pair(tmp_path, "de", range(300))
    for file in tmp_path.iterdir():
        file.write_text(10 * file.read_text())
    hold_out(tmp_path, ("en", "de"), 500)
    test, valid = (numbers_in(tmp_path / f"{split}.en-de.de") for split in ("test", "valid"))
    assert (len(test), len(valid)) == (30, 30)
    assert len({*numbers_in(tmp_path / "train.de-en.de")} - {*test, *valid}) == 240


def test_no_more_than_asked_for_and_always_the_same_but_for_the_seed(text, tmp_path):
    made = []
    for seed in (1, 1, 2):
        copy = tmp_path / f"copy{len(made)}"
        write_pair(copy, "de", range(400))
        hold_out(copy, ("en", "de"), 3, seed=seed)
        made.append([lines(copy / f"{split}.en-de.de") for split in ("test", "valid")])
    assert made[0] == made[1] != made[2]
    assert [len(of_split) for of_split in made[0]] == [3, 3]


def test_sets_of_different_splits_have_no_sentence_in_common_on_any_side(tmp_path):
    """One English sentence in two has the same German one as its neighbour, one in five comes again."""
    folder = tmp_path / "text"
    folder.mkdir()
    english = [f"Sentence {number % 320}!" for number in range(400)]
    (folder / "train.de-en.en").write_text("".join(f"{line}\n" for line in english))
    (folder / "train.de-en.de").write_text("".join(f"SATZ {number // 2}\n" for number in range(400)))
    hold_out(folder, ("en", "de"), 20)
    test, valid = (
        {normalise(line) for side in ("de", "en") for line in lines(folder / f"{split}.en-de.{side}")}
        for split in ("test", "valid")
    )
    assert test and valid and not test & valid
    assert len({*lines(folder / "test.en-de.en")}) == len(lines(folder / "test.en-de.en")) == 20


def test_a_translation_of_several_sentences_is_in_one_split_only(tmp_path):
    """Four English sentences have the same German one."""
    folder = tmp_path / "text"
    folder.mkdir()
    (folder / "train.de-en.en").write_text("".join(f"Sentence {number}.\n" for number in range(400)))
    (folder / "train.de-en.de").write_text("".join(f"Satz {number // 4}.\n" for number in range(400)))
    hold_out(folder, ("en", "de"), 20)
    test, valid = (
        {normalise(line) for line in lines(folder / f"{split}.en-de.de")} for split in ("test", "valid")
    )
    assert test and valid and not test & valid


def test_pairs_that_share_english_sentences_share_held_out_ones_and_are_tested_between(tmp_path):
    folder = tmp_path / "text"
    for language in ("de", "fr"):
        write_pair(folder, language, range(400))
    hold_out(folder, LANGUAGES, 20)
    assert numbers_in(folder / "test.en-de.en") == numbers_in(folder / "test.en-fr.en")
    assert numbers_in(folder / "test.de-fr.de") == numbers_in(folder / "test.de-fr.fr")
    assert numbers_in(folder / "test.de-fr.de") == numbers_in(folder / "test.en-de.en")
    assert not [*folder.glob("valid.de-fr.*")]


def test_pairs_that_share_too_little_are_not_tested_between(tmp_path):
    """The two test sets have some sentences in common, but not as many as the smaller one has."""
    text = tmp_path / "text"
    write_pair(text, "de", range(400))
    write_pair(text, "fr", range(100, 500))
    hold_out(text, LANGUAGES, 500)
    of_de, of_fr = (numbers_in(text / f"test.en-{language}.en") for language in ("de", "fr"))
    assert 0 < len({*of_de} & {*of_fr}) < len(of_fr)
    assert not [*text.glob("test.*de-fr*")]


def test_a_set_that_is_there_stays_and_is_kept_out_of_the_other(text):
    write_pair(text, "de", range(0, 400, 2), split="test")
    before = (text / "test.de-en.de").read_bytes()
    hold_out(text, LANGUAGES, 20)
    assert (text / "test.de-en.de").read_bytes() == before and not (text / "test.en-de.de").exists()
    assert all(number % 2 or number >= 400 for number in numbers_in(text / "valid.en-de.de"))
    assert all(number % 2 or number >= 400 for number in numbers_in(text / "test.en-fr.fr"))


def test_a_test_set_of_languages_without_text_changes_no_choice_when_it_is_added(text, tmp_path):
    with_set = shutil.copytree(text, tmp_path / "with")
    hold_out(text, LANGUAGES, 500)
    for language in ("de", "fr"):  # of the held-out sentences themselves, as somebody may translate them
        lines_of_sets = [lines(text / f"{split}.en-de.de")[:3] for split in ("test", "valid")]
        (with_set / f"test.de-fr.{language}").write_text("\n".join(sum(lines_of_sets, [])) + "\n")
    hold_out(with_set, LANGUAGES, 500)
    for file in text.glob("*.*-en.*"):
        assert lines(with_set / file.name) == lines(file)
    for file in [*text.glob("*.en-de.*"), *text.glob("*.en-fr.*")]:
        assert lines(with_set / file.name) == lines(file)
    assert len(lines(with_set / "test.de-fr.de")) == 6


def test_text_whose_sentences_are_all_taken_gets_one_sentence(text):
    write_pair(text, "de", range(400), split="test")
    with pytest.raises(InputError, match="en-de has no sentence left for a valid set"):
        hold_out(text, LANGUAGES, 20)


def test_the_first_lines_are_those_of_the_smallest_checksums(text):
    (some, lines), (more, _) = (first_lines(text, ("en", "de"), number, seed=1) for number in (7, 90))
    assert more[:7] == some and len({*more}) == 90 and lines == 400


def test_a_sentence_that_cleaning_would_leave_out_as_too_long_is_not_held_out(tmp_path):
    write_pair(tmp_path, "de", range(400))
    file = tmp_path / "train.de-en.de"
    hold_out(shutil.copytree(tmp_path, tmp_path / "short"), ("en", "de"), 20)
    chosen = numbers_in(tmp_path / "short" / "test.en-de.de")
    long = [
        f"{line} {'long ' * 200}" if number == chosen[0] else line for number, line in enumerate(lines(file))
    ]
    file.write_text("".join(f"{line}\n" for line in long))
    hold_out(tmp_path, ("en", "de"), 20)
    assert numbers_in(tmp_path / "test.en-de.de")[:19] == chosen[1:]
    assert chosen[0] in numbers_in(file) and chosen[0] not in numbers_in(tmp_path / "valid.en-de.de")
