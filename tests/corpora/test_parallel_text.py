import subprocess
import sys
from pathlib import Path

import pytest

from zsnmt.corpora import parallel_text
from zsnmt.corpora.parallel_text import (
    check_corpus,
    check_pair,
    check_trained,
    files_of_language,
    find_pair,
    pairs_of_split,
)
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines, write_lines

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_parallel_text.py"


def put(folder: Path, **files: int) -> None:
    """Files with so many lines each; `train__de_en__de` is `train.de-en.de`."""
    for name, lines in files.items():
        parts = name.split("__")
        name = ".".join([parts[0], *(part.replace("_", "-") for part in parts[1:])])
        write_lines(folder / name, (f"line {number}" for number in range(lines)))


def names(files: tuple[Path, Path]) -> tuple[str, str]:
    return files[0].name, files[1].name


# Finding


def test_a_direction_is_found_in_its_own_files_then_reversed_then_multiway(tmp_path):
    put(tmp_path, test__de=3, test__en=3)
    assert names(find_pair(tmp_path, "test", "de", "en")) == ("test.de", "test.en")
    put(tmp_path, test__en_de__de=3, test__en_de__en=3)
    assert names(find_pair(tmp_path, "test", "de", "en")) == ("test.en-de.de", "test.en-de.en")
    put(tmp_path, test__de_en__de=3, test__de_en__en=3)
    assert names(find_pair(tmp_path, "test", "de", "en")) == ("test.de-en.de", "test.de-en.en")


def test_both_directions_of_a_pair_are_the_same_files_swapped(tmp_path):
    put(tmp_path, train__de_en__de=3, train__de_en__en=3)
    assert find_pair(tmp_path, "train", "de", "en") == find_pair(tmp_path, "train", "en", "de")[::-1]


def test_a_missing_direction_names_what_was_looked_for_and_what_is_there(tmp_path):
    put(tmp_path, train__de_en__de=1, train__de_en__en=1, train__fr=1, test__cs=1)
    with pytest.raises(InputError) as error:
        find_pair(tmp_path, "train", "cs", "en")
    for part in (
        "train.cs-en.{cs,en}",
        "train.en-cs.{cs,en}",
        "train.{cs,en}",
        "languages there: de, en, fr",
    ):
        assert part in str(error.value)
    with pytest.raises(InputError, match="languages there: none"):
        find_pair(tmp_path, "valid", "cs", "en")


@pytest.mark.parametrize("side", ["de", "en"])
@pytest.mark.parametrize("pair", ["de-en", "en-de"])
def test_a_pair_of_which_one_side_is_there_is_a_pair_of_its_split(tmp_path, side, pair):
    """So that what reads the split says that a side is missing, before anything is trained."""
    (tmp_path / f"valid.{pair}.{side}").write_text("a line\n")
    assert pairs_of_split(tmp_path, "valid", ["en", "de", "fr"]) == [("en", "de")]


def test_files_of_both_directions_are_one_pair_too_many(tmp_path):
    put(tmp_path, train__de_en__de=1, train__de_en__en=1, train__en_de__de=1, train__en_de__en=1)
    with pytest.raises(InputError, match="train.en-de.en and train.de-en.de; .* so keep one"):
        pairs_of_split(tmp_path, "train", ["en", "de"])


def test_half_a_pair_has_its_own_sentence(tmp_path):
    put(tmp_path, train__de_en__de=1, train__de=1, train__en=1)
    with pytest.raises(InputError, match="train.de-en.de stands alone; add its other side train.de-en.en"):
        find_pair(tmp_path, "train", "en", "de")


@pytest.mark.parametrize(
    "source, target", [("de", "de"), ("zh-Hans", "en"), ("../de", "en"), ("", "en"), ("1a", "en")]
)
def test_only_two_different_language_codes_are_a_direction(source, target, tmp_path):
    with pytest.raises(InputError, match="is not a direction|is not a language code"):
        find_pair(tmp_path, "train", source, target)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere is not a folder"):
        find_pair(tmp_path / "nowhere", "train", "de", "en")
    with pytest.raises(InputError, match="nowhere is not a folder"):
        check_trained(tmp_path / "nowhere", ["de", "en"])
    with pytest.raises(InputError, match="nowhere: there is no such file or folder; give one that holds te"):
        files_of_language("de", [tmp_path / "nowhere"])


@pytest.mark.parametrize("languages", [["de"], ["de", "de"]])
def test_a_language_alone_or_twice_is_not_said_to_lack_text(tmp_path, languages):
    for language in ("de", "en"):
        write_lines(tmp_path / f"train.de-en.{language}", ["One."])
    with pytest.raises(InputError, match="a set of languages needs two or more, each once"):
        check_trained(tmp_path, languages)


# Checking


def test_a_pair_is_counted_from_both_sides_alike(tmp_path):
    put(tmp_path, train__de_en__de=5, train__de_en__en=5)
    source, target = find_pair(tmp_path, "train", "de", "en")
    assert check_pair(source, target) == check_pair(target, source) == len(read_lines(source)) == 5


@pytest.mark.parametrize("source, target", [(5, 3), (3, 5)])
def test_unequal_counts_are_both_named(source, target, tmp_path):
    put(tmp_path, train__de_en__de=source, train__de_en__en=target)
    with pytest.raises(
        InputError, match=rf"train.de-en.de has {source} lines and .*train.de-en.en has {target};"
    ):
        check_pair(*find_pair(tmp_path, "train", "de", "en"))


def test_an_empty_line_on_one_side_is_named(tmp_path):
    write_lines(tmp_path / "a", ["x", "y", "z"])
    write_lines(tmp_path / "b", ["x", "  ", "z"])
    with pytest.raises(InputError, match="b, line 2 is empty"):
        check_pair(tmp_path / "a", tmp_path / "b")


def test_a_corpus_is_counted_by_split_and_pair(tmp_path):
    put(
        tmp_path,
        train__de_en__de=5,
        train__de_en__en=5,
        train__en_fr__en=4,
        train__en_fr__fr=4,
        test__de=2,
        test__en=2,
        test__fr=2,
    )
    assert check_corpus(tmp_path, [("de", "en"), ("fr", "en")], ("train", "test")) == {
        "train": {"de-en": 5, "fr-en": 4},
        "test": {"de-en": 2, "fr-en": 2},
    }


def test_a_missing_split_and_a_missing_language_stop(tmp_path):
    put(tmp_path, train__de_en__de=5, train__de_en__en=5)
    with pytest.raises(InputError, match="de-en in split 'valid'"):
        check_corpus(tmp_path, [("de", "en")])
    with pytest.raises(InputError, match="fr-en in split 'train'"):
        check_corpus(tmp_path, [("de", "en"), ("fr", "en")], ["train"])


def test_a_multiway_set_has_one_number_of_lines(tmp_path):
    put(tmp_path, test__de=2, test__en=2, test__fr=3, test__it=3)
    with pytest.raises(InputError, match="test.de 2, test.en 2, test.fr 3, test.it 3"):
        check_corpus(tmp_path, [("de", "en"), ("fr", "it")], ["test"])


def test_a_file_of_a_multiway_set_is_read_once_for_all_its_pairs(tmp_path, monkeypatch):
    put(tmp_path, **{f"test__{language}": 3 for language in ("de", "en", "fr", "it")})
    read, original = [], parallel_text.iterate_lines
    monkeypatch.setattr(
        parallel_text,
        "iterate_lines",
        lambda path, **others: read.append(path) or original(path, **others),
    )
    pairs = pairs_of_split(tmp_path, "test", ["de", "en", "fr", "it"])
    assert len(pairs) == 6 and {*check_corpus(tmp_path, pairs, ["test"])["test"].values()} == {3}
    assert len(read) == len({*read}) == 4


def test_nothing_to_check_is_an_error(tmp_path):
    with pytest.raises(InputError, match="nothing to check"):
        check_corpus(tmp_path, [])


# The command


def check(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("splits", [["train,test"], ["train", "test"], ["train,", "test"]])
def test_the_command_prints_the_counts(tmp_path, splits):
    put(tmp_path, train__de_en__de=5, train__de_en__en=5, test__de=2, test__en=2)
    result = check(tmp_path, "--pairs", "de-en", "--splits", *splits)
    assert (result.returncode, result.stdout, result.stderr) == (0, "pair\ttrain\ttest\nde-en\t5\t2\n", "")


def test_the_command_wants_a_pair(tmp_path):
    result = check(tmp_path, "--pairs", ",")
    assert result.returncode == 2 and "--pairs: expected at least one argument" in result.stderr


def test_the_command_reports_a_mistake_in_one_line(tmp_path):
    put(tmp_path, train__de_en__de=5, train__de_en__en=4)
    result = check(tmp_path, "--pairs", "de-en", "--splits", "train")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
