"""What the readers of releases share: names looked up, lines read, sentences made to fit the contract."""

import gzip
import logging
from pathlib import Path

import pytest

from zsnmt.corpora.parallel_text import write_rows
from zsnmt.corpora.releases.release import (
    MissingFiles,
    clean_rows,
    clean_sentence,
    find_file,
    find_files,
    open_lines,
)
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines, write_lines

MESSY = ["\ufeffa\tb", "a\0b", " a\u00a0 b\u2028c ", "a\x85b\x07", "a\rb\r", "\u200ba b", "क्‍ष", "a\ufeffb"]


@pytest.mark.parametrize("text", MESSY)
def test_a_clean_sentence_fits_the_contract_and_stays(tmp_path, text):
    clean = clean_sentence(text)
    write_lines(tmp_path / "text", [clean])
    assert read_lines(tmp_path / "text") == [clean] == [clean_sentence(clean)]
    assert "".join(clean.split()) == clean.replace(" ", "")


def test_what_is_no_white_space_is_kept_and_what_is_becomes_one_space():
    assert [*map(clean_sentence, MESSY)] == ["a b", "ab", "a b c", "a b", "a b", "\u200ba b", "क्‍ष", "ab"]
    assert clean_sentence("\0\ufeff \x01\u2029") == ""
    assert clean_sentence(" ▁ ▁") == "", "subword models take this for a space"


def test_rows_with_an_empty_sentence_are_left_out_and_counted(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    rows = clean_rows([("one ", "eins"), ("two", "\x01"), ("", "drei"), ("four", "vier")], "train.de-en")
    assert rows == [("one", "eins"), ("four", "vier")]
    assert caplog.messages == ["train.de-en: lines with an empty sentence, left out: 2"]
    write_rows(tmp_path, "train.de-en", ["en", "de"], rows)
    assert read_lines(tmp_path / "train.de-en.en") == ["one", "four"]
    assert read_lines(tmp_path / "train.de-en.de") == ["eins", "vier"]
    write_rows(tmp_path, "none", ["en", "de"], [])
    assert not [*tmp_path.glob("none*")]


def test_no_row_left_is_an_error():
    with pytest.raises(
        InputError, match="no sentence of the release is left for test.de-en; get the release again"
    ):
        clean_rows([("a", ""), ("\0", "b"), ("c", "▁ ▁")], "test.de-en")


# Files


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_a_file_is_found_below_plain_or_packed(tmp_path):
    packed = write(tmp_path / "a" / "b" / "text.en.gz", b"packed\n")
    assert find_file(tmp_path, "text.en") == packed
    plain = write(tmp_path / "a" / "b" / "text.en", b"plain\n")
    assert find_file(tmp_path, "text.en") == plain, "a plain file hides the packed one beside it"


def test_files_of_the_same_name_must_be_the_same(tmp_path):
    write(tmp_path / "a" / "text.en", b"one\n")
    write(tmp_path / "b" / "text.en", b"one\n")
    assert find_file(tmp_path, "text.en").read_bytes() == b"one\n"
    write(tmp_path / "c" / "text.en", b"two\n")
    with pytest.raises(
        InputError, match="a/text.en and .*c/text.en differ; give a folder that holds one release"
    ):
        find_file(tmp_path, "text.en")


def test_a_missing_file_and_a_missing_folder(tmp_path):
    with pytest.raises(
        MissingFiles, match=f"{tmp_path} and the folders below it have no text.en or text.en.gz"
    ):
        find_file(tmp_path, "text.en")
    with pytest.raises(InputError, match="release is not a folder; give the one that holds the release"):
        find_file(tmp_path / "release", "text.en")


def test_the_first_alternative_that_is_all_there(tmp_path):
    for name in ("a.en", "b.en", "b.de", "c.en", "c.de"):
        write(tmp_path / name, b"text\n")
    wanted = [["a.en", "a.de"], ["b.en", "b.de"], ["c.en", "c.de"]]
    assert find_files(tmp_path, [wanted, wanted[2:]], "toy") == [
        [tmp_path / "b.en", tmp_path / "b.de"],
        [tmp_path / "c.en", tmp_path / "c.de"],
    ]


def test_all_that_is_missing_is_named_with_the_remedy(tmp_path):
    write(tmp_path / "a.en", b"text\n")
    with pytest.raises(MissingFiles) as caught:
        find_files(tmp_path, [[["a.en", "a.de"], ["b.en"]], [["c.en"]]], "toy")
    assert str(caught.value) == (
        f"{tmp_path} and the folders below it lack a.de, c.en; get the release with zsnmt fetch toy "
        "--to FOLDER"
    )
    with pytest.raises(MissingFiles, match="lack x0, x1, x2, x3, x4, x5 and 2 more;"):
        find_files(tmp_path, [[[f"x{number}" for number in range(8)]]], "toy")


# Lines


@pytest.mark.parametrize("name", ["text.en", "text.en.gz"])
def test_only_a_newline_ends_a_line(tmp_path, name, caplog):
    caplog.set_level(logging.INFO)
    path = write(tmp_path / name, "one\ntwo\u2028\x85\rtwo\n\nthree\tthree".encode())
    assert [*open_lines(path)] == ["one", "two\u2028\x85\rtwo", "", "three\tthree"]
    assert caplog.messages == [f"{name}: lines with control characters, which become spaces: 1"]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"one\ntw\xe9\n", "line 2, byte 3: 0xe9 is not UTF-8"),
        (b"one\r\ntwo\r\n", "line 1 ends with a carriage return; convert the file with dos2unix"),
        (b"", "is empty, which it is not in the release"),
    ],
)
@pytest.mark.parametrize("name", ["text.en", "text.en.gz"])
def test_a_file_that_is_not_as_released(tmp_path, content, message, name):
    path = write(tmp_path / name, content)
    with pytest.raises(InputError, match=f"{path}.* {message}"):
        [*open_lines(path)]


def test_a_damaged_archive(tmp_path):
    path = write(tmp_path / "text.gz", b"one\n" * 999)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="text.gz cannot be unpacked .*; get the release again"):
        [*open_lines(path)]
    path.write_bytes(b"plain\n")
    with pytest.raises(InputError, match="text.gz cannot be unpacked"):
        [*open_lines(path)]


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        [*open_lines(tmp_path / "text")]
    with pytest.raises(InputError, match="is a folder; name a file of the release"):
        [*open_lines(tmp_path)]
