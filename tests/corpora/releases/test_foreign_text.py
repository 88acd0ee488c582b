"""Files whose text is of another language than their name says."""

from pathlib import Path

import pytest

from tests.conftest import run_command
from zsnmt.corpora.releases.foreign_text import foreign_files
from zsnmt.text.lines import write_lines

TEXT = {
    "en": [
        "The children walk to the old house by the river.",
        "We would like to know what you think about this.",
    ],
    "de": [
        "Die Kinder gehen zu dem alten Haus am Fluss.",
        "Wir möchten gerne wissen, was Sie darüber denken.",
    ],
    "hi": ["बच्चे नदी के किनारे पुराने घर तक जाते हैं।", "हम जानना चाहेंगे कि आप इसके बारे में क्या सोचते हैं।"],
}


@pytest.fixture
def folder(tmp_path) -> Path:
    for language in ("de", "hi"):
        for side in (language, "en"):
            write_lines(tmp_path / f"train.{language}-en.{side}", TEXT[side] * 5)
    for language, lines in TEXT.items():
        write_lines(tmp_path / f"test.{language}", lines)
    return tmp_path


@pytest.mark.slow
def test_text_in_its_own_language_is_not_named(folder):
    assert not [*foreign_files(folder, ["en", "de", "hi"])]


def test_exchanged_files_are_named_with_what_they_are(folder):
    a, b = folder / "train.de-en.de", folder / "train.de-en.en"
    a.rename(folder / "other")
    b.rename(a)
    (folder / "other").rename(b)
    write_lines(folder / "test.hi", TEXT["de"])
    write_lines(folder / "valid.hi", TEXT["de"])
    found = [
        (file.name, language, share) for file, language, share in foreign_files(folder, ["en", "de", "hi"])
    ]
    assert found == [("test.hi", "de", 0), ("train.de-en.de", "en", 0), ("train.de-en.en", "de", 0)]


@pytest.mark.slow
def test_preparing_training_data_warns_of_them(folder, tmp_path):
    write_lines(folder / "train.hi-en.hi", TEXT["de"] * 5)
    data = tmp_path / "data"
    done = run_command(
        "scripts/prepare.py", folder, data, "--languages", "en", "de", "hi", "--vocabulary-size", "90"
    )
    assert done.returncode == 0, done.stderr
    assert (
        "warning: only 0% of the lines of train.hi-en.hi are in the language of its name, "
        "and most look like de" in done.stderr
    )
    assert done.stderr.count("warning") == 1 and (data / "languages.txt").is_file()


def test_half_of_the_lines_is_enough(folder):
    write_lines(folder / "test.hi", TEXT["de"] + TEXT["hi"])
    assert not [*foreign_files(folder, ["en", "de", "hi"])]
    write_lines(folder / "test.hi", TEXT["de"] * 2 + TEXT["hi"])
    ((file, language, share),) = foreign_files(folder, ["en", "de", "hi"])
    assert (file.name, language) == ("test.hi", "de") and share == pytest.approx(1 / 3)


def test_languages_that_nobody_knows_are_not_checked(folder):
    write_lines(folder / "test.velan", TEXT["de"])
    assert not [*foreign_files(folder, ["en", "velan"])]


def test_files_that_no_pair_uses_are_not_read(folder):
    """Nobody has checked them: a test set whose pairs all have files of their own, for one."""
    for pair in (("de", "en"), ("hi", "en"), ("de", "hi")):
        for side in pair:
            write_lines(folder / f"test.{'-'.join(pair)}.{side}", TEXT[side])
    (folder / "test.de").write_bytes("für".encode("latin1"))
    (folder / "test.hi").write_bytes(b"")
    write_lines(folder / "train.de-fr.de", TEXT["en"])
    assert not [*foreign_files(folder, ["en", "de", "hi"])]
