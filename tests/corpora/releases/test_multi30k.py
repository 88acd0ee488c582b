"""The release of Multi30k, in small: read, it is what its plain text cut by hand is."""

import gzip
from pathlib import Path

import pytest

from zsnmt.corpora.multiway import CONDITIONS, cut_training_pairs
from zsnmt.corpora.releases.multi30k import read_release
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines, write_lines

LANGUAGES = ["en", "de", "fr", "cs"]
SIZES = {"train": 30, "val": 3, "test_2016_flickr": 5}


def captions(name: str, language: str) -> list[str]:
    return [f"A {language} caption, {name} {line % 25}." for line in range(SIZES[name])]


@pytest.fixture
def release(tmp_path) -> Path:
    release = tmp_path / "release"
    release.mkdir()
    for name in SIZES:
        for language in LANGUAGES:
            write_lines(release / f"{name}.{language}", captions(name, language))
    return release


def pack(release: Path) -> None:
    folder = release / "data" / "task1" / "raw"
    folder.mkdir(parents=True)
    for path in [path for path in release.iterdir() if path.is_file()]:
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


def rename(release: Path) -> None:
    for path in [*release.iterdir()]:
        path.rename(path.with_name(path.name.replace("val.", "valid.").replace("test_2016_flickr.", "test.")))


@pytest.mark.parametrize("form", [lambda release: None, pack, rename], ids=["plain", "packed", "renamed"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_form_gives_what_cutting_gives(release, tmp_path, form, condition):
    form(release)
    (text := tmp_path / "text").mkdir()
    counts = read_release(release, text, LANGUAGES, condition, seed=3)
    (plain := tmp_path / "plain").mkdir()
    for name, split in zip(SIZES, ("train", "valid", "test")):
        for language in LANGUAGES:
            write_lines(plain / f"{split}.{language}", captions(name, language))
    cut = tmp_path / "cut"
    assert counts["train"] == cut_training_pairs(plain, cut, LANGUAGES, condition, seed=3)
    assert sorted(path.name for path in text.iterdir()) == sorted(path.name for path in cut.iterdir())
    for path in cut.iterdir():
        assert path.read_bytes() == (text / path.name).read_bytes()
    assert (
        len(counts["valid"]) == 6
        and set(counts["valid"].values()) == {3}
        and set(counts["test"].values()) == {5}
    )


def test_a_line_that_one_language_lacks_is_left_out_of_all(release, tmp_path):
    lines = captions("train", "fr")
    lines[:2] = ["\ufeff" + lines[0].replace(" ", "\u2028\x07"), "\x01"]
    (release / "train.fr").write_text("\n".join(lines) + "\n")
    (text := tmp_path / "text").mkdir()
    assert set(read_release(release, text, LANGUAGES)["train"].values()) == {29}
    for language in LANGUAGES[1:]:
        for side in (language, "en"):
            expected = captions("train", side)
            assert read_lines(text / f"train.{language}-en.{side}") == [expected[0], *expected[2:]]


def fails(release: Path, message: str, languages=LANGUAGES, condition: str = "multiway") -> None:
    (text := release.parent / "text").mkdir(exist_ok=True)
    with pytest.raises(InputError, match=message):
        read_release(release, text, languages, condition)
    assert not [*text.iterdir()]


@pytest.mark.parametrize("name", SIZES)
def test_another_number_of_lines(release, name):
    write_lines(release / f"{name}.fr", captions(name, "fr")[:-1])
    listed = ", ".join(f"{name}.{code} {SIZES[name] - (code == 'fr')}" for code in LANGUAGES)
    fails(release, rf"release has files that differ in their number of lines \({listed}\); line n must be")


def test_what_is_missing_is_named(release):
    (release / "val.cs").unlink()
    fails(release, "lack val.cs; get the release with zsnmt fetch multi30k")
    fails(release, "lack train.it, val.it, test_2016_flickr.it;", ["en", "it"])


def test_an_unknown_condition_and_one_language(release):
    fails(release, "unknown condition 'full': it must be one of multiway, non_overlap", condition="full")
    fails(release, "two or more, each once", ["en"])


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "val.de is empty"),
        (b"ein\r\nzwei\r\ndrei\r\n", "val.de, line 1 ends with a carriage return"),
        (b"ein\nzw\xe4i\ndrei\n", "val.de, line 2, byte 3: 0xe4 is not UTF-8"),
        (b"\n\n\n", "no sentence of the release is left for valid"),
    ],
)
def test_a_file_that_is_not_as_released(release, content, message):
    (release / "val.de").write_bytes(content)
    fails(release, message)
