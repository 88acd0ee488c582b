"""The release of PMIndia, in small: how its pairs are read, and what is held out."""

import logging
from itertools import combinations
from pathlib import Path

import pytest

from zsnmt.corpora.overlap import normalise
from zsnmt.corpora.parallel_text import check_corpus
from zsnmt.corpora.releases.pmindia import read_release
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines

LANGUAGES = ["en", "hi", "te", "or"]
WORDS = {"en": "sentence", "hi": "वाक्य", "te": "వాక్యం", "or": "ବାକ୍ୟ"}
MULTIWAY = range(20)  # sentences that every language has
OWN = {"hi": range(20, 31), "te": range(25, 38), "or": range(40, 45)}


def sentence(language: str, number: int) -> str:
    return f"{WORDS[language]} {number}"


def rows(language: str) -> list[str]:
    numbers = [*OWN[language], *MULTIWAY] if language == "te" else [*MULTIWAY, *OWN[language]]
    return [f"{sentence('en', number)}\t{sentence(language, number)}" for number in numbers]


def write(release: Path, language: str, lines: list[str]) -> None:
    (release / f"pmindia.v1.{language}-en.tsv").write_text("\n".join(lines) + "\n")


@pytest.fixture
def release(tmp_path) -> Path:
    release = tmp_path / "release"
    release.mkdir()
    for language in OWN:
        write(release, language, rows(language))
    return release


def target(release: Path, name: str = "text") -> Path:
    folder = release.parent / name
    folder.mkdir(exist_ok=True)
    return folder


def numbers(folder: Path, name: str, language: str) -> list[int]:
    """The numbers of the sentences in a file, which are all of its language."""
    lines = read_lines(folder / f"{name}.{language}")
    assert all(line.rsplit(" ", 1)[0] == WORDS[language] for line in lines)
    return [int(line.rsplit(" ", 1)[1]) for line in lines]


def test_held_out_sets_are_multiway_and_the_rest_is_trained_on(release):
    text = target(release)
    counts = read_release(release, text, LANGUAGES, held_out=4)
    held_out = []
    for split in ("valid", "test"):
        lines = [numbers(text, split, language) for language in LANGUAGES]
        assert len(lines[0]) == 4 and lines == [lines[0]] * len(LANGUAGES) and lines[0] == sorted(lines[0])
        held_out += lines[0]
    assert len(set(held_out)) == 8 and set(held_out) <= {*MULTIWAY}
    for language, own in OWN.items():
        name = f"train.{language}-en"
        assert numbers(text, name, language) == numbers(text, name, "en")
        assert sorted(numbers(text, name, "en")) == sorted({*MULTIWAY, *own} - {*held_out})
        assert counts["train"][f"{language}-en"] == 12 + len(own)
    assert (
        counts["valid"] == counts["test"] and set(counts["test"].values()) == {4} and len(counts["test"]) == 6
    )
    check_corpus(text, [*combinations(LANGUAGES, 2)], ["valid", "test"])


def test_the_seed_decides_what_is_held_out(release):
    sets = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        read_release(release, target(release, name), LANGUAGES, held_out=5, seed=seed)
        sets.append([numbers(target(release, name), split, "en") for split in ("valid", "test")])
    assert sets[0] == sets[1] != sets[2]


def test_the_order_of_the_languages_decides_nothing(release):
    for name, languages in (("a", LANGUAGES), ("b", ["en", "te", "or", "hi"])):
        read_release(release, target(release, name), languages, held_out=5)
    one, other = (
        {path.name: path.read_bytes() for path in target(release, name).iterdir()} for name in ("a", "b")
    )
    assert one == other and one


def test_no_training_pair_has_a_held_out_sentence_on_either_side(release):
    """Neither an English one with another translation nor a translation of another English one."""
    again = [f"SENTENCE  {number}!\tx {number}" for number in MULTIWAY]
    write(
        release, "hi", rows("hi") + again + [f"y {number}\t{WORDS['te']} {number} ." for number in MULTIWAY]
    )
    text = target(release)
    read_release(release, text, LANGUAGES, held_out=10)
    held_out = {
        normalise(line)
        for split in ("valid", "test")
        for language in LANGUAGES
        for line in read_lines(text / f"{split}.{language}")
    }
    for side in ("hi", "en"):
        assert held_out.isdisjoint(map(normalise, read_lines(text / f"train.hi-en.{side}")))
    assert numbers(text, "train.hi-en", "hi") == [*OWN["hi"]]


def test_valid_and_test_share_no_sentence_of_any_language(release):
    """Two English sentences with one translation cannot be in two sets, nor two that differ in a full
    stop.
    """
    more = {
        language: [f"other {number}\t{sentence(language, number)}" for number in MULTIWAY] for language in OWN
    }
    more["te"] = [f"other {number}\tz {number}" for number in MULTIWAY]
    for language in OWN:
        write(release, language, rows(language) + more[language] + [f"Sentence 0.\t{language} dot"])
    text = target(release)
    read_release(release, text, LANGUAGES, held_out=10)
    for language in LANGUAGES:
        lines = read_lines(text / f"valid.{language}") + read_lines(text / f"test.{language}")
        assert len(set(map(normalise, lines))) == 20


def test_an_english_sentence_with_two_translations_is_not_held_out(release):
    write(release, "hi", rows("hi") + [f"{sentence('en', number)}\tx {number}" for number in range(17)])
    read_release(release, target(release), LANGUAGES, held_out=1)
    assert {*numbers(target(release), "valid", "en"), *numbers(target(release), "test", "en")} < {17, 18, 19}


def test_pairs_are_read_once_and_cleaned(release, caplog):
    caplog.set_level(logging.INFO)
    odd = [
        "\ufeffsentence\u2028 90\tवाक्य\x0b90 ",
        "sentence 90\tवाक्य 90\0",
        "\tवाक्य 91",
        "sentence 92\t \x01",
    ]
    write(release, "hi", odd + rows("hi") + rows("hi"))
    counts = read_release(release, target(release), LANGUAGES, held_out=3)
    assert counts["train"]["hi-en"] == len(MULTIWAY) - 6 + len(OWN["hi"]) + 1
    assert numbers(target(release), "train.hi-en", "hi")[0] == 90
    said = caplog.text
    for message in (
        "characters, which become spaces: 3",
        "empty sentence, left out: 2",
        "before, left out: 32",
    ):
        assert message in said


def test_fewer_multiway_sentences_are_halved_and_the_log_says_so(release, caplog):
    counts = read_release(release, target(release), LANGUAGES)
    assert set(counts["valid"].values()) == set(counts["test"].values()) == {10}
    assert (
        "valid and test have 10 sentences each, not 1695: only 20 are in all of en, hi, te, or" in caplog.text
    )
    assert counts["train"]["or-en"] == len(OWN["or"])


# Mistakes


def fails(release: Path, message: str, languages=LANGUAGES, **settings) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_release(release, target(release), languages, **settings)
    assert "\n" not in str(caught.value)


def test_languages(release):
    fails(release, "the first language must be en, here it is hi", ["hi", "en", "te"])
    fails(release, "two or more, each once", ["en"])
    fails(release, "lack pmindia.v1.ta-en.tsv; get .* zsnmt fetch pmindia", [*LANGUAGES, "ta"])


@pytest.mark.parametrize("line, count", [("sentence 99", 1), ("sentence 99\tवाक्य 99\t0.7", 3), ("", 1)])
def test_another_number_of_columns(release, line, count):
    lines = rows("hi")
    write(release, "hi", lines[:4] + [line] + lines[4:])
    fails(
        release,
        f"hi-en.tsv, line 5 has {count} columns?; it needs two, English and hi with a tab between them",
    )


@pytest.mark.parametrize(
    "old, new, message",
    [
        (b"\n", b"\r\n", "line 1 ends with a carriage return; convert the file with dos2unix"),
        (b"sentence 3", b"\xff", "line 4, byte 1: 0xff is not UTF-8"),
    ],
)
def test_another_encoding(release, old, new, message):
    path = release / "pmindia.v1.hi-en.tsv"
    path.write_bytes(path.read_bytes().replace(old, new))
    fails(release, f"hi-en.tsv, {message}")


def test_an_empty_file(release):
    (release / "pmindia.v1.or-en.tsv").write_bytes(b"")
    fails(release, "or-en.tsv is empty")


def test_nothing_to_hold_out(release):
    fails(release, "0 sentences cannot be held out", held_out=0)
    write(release, "or", rows("or")[-6:])
    fails(release, "has 1 sentences in all of en, hi, te, or; a validation and a test set need two or more")


def test_nothing_to_train_on(release):
    write(release, "or", rows("or")[:20])
    fails(release, "all sentence pairs of or-en are held out; hold out fewer than 10")
