"""Bibles of the eBible corpus, and the text of the masked-LM study made of two of them."""

import pytest

from tests.conftest import run_command
from zsnmt.corpora.releases.bible import read_verses
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines


def test_verses_that_a_bible_lacks_and_marks_of_paragraphs_are_left_out(tmp_path):
    path = tmp_path / "eng-some.txt"
    path.write_text(
        "One verse.\n\n\N{PILCROW SIGN} Another, of  two lines.\n<range>\n\N{PILCROW SIGN}\nThe last.\n"
    )
    assert read_verses(path) == ["One verse.", "Another, of two lines.", "The last."]


def test_a_file_without_verses_is_refused(tmp_path):
    path = tmp_path / "eng-none.txt"
    path.write_text("\n<range>\n\n")
    with pytest.raises(
        InputError, match="eng-none.txt has no verses; give a Bible as zsnmt fetch ebible brings"
    ):
        read_verses(path)


def test_the_command_writes_both_texts_or_none(tmp_path):
    for name in ("one", "other"):
        (tmp_path / f"{name}.txt").write_text(f"A verse of {name}.\n\nThe next of {name}.\n")
    command = "python", "-m", "zsnmt", "prepare-bible", tmp_path / "bible", "--train", tmp_path / "one.txt"
    stopped = run_command(*command, "--valid", tmp_path / "no.txt")
    assert stopped.returncode == 1 and "no.txt: there is no such file" in stopped.stderr
    assert not (tmp_path / "bible").exists()
    done = run_command(*command, "--valid", tmp_path / "other.txt")
    assert (done.returncode, done.stdout) == (0, "train.en\t2\nvalid.en\t2\n")
    assert read_lines(tmp_path / "bible" / "valid.en") == ["A verse of other.", "The next of other."]
