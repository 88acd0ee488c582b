"""Europarl v7 under three conditions, on made-up files in the form of the release."""

import gzip
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from zsnmt.corpora.judging import check_overlap
from zsnmt.corpora.overlap import normalise
from zsnmt.corpora.releases.europarl import CONDITIONS, LANGUAGES, deal, digest_pair, read_release
from zsnmt.corpora.releases.release import clean_sentence
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines

CODES = ["en", "de", "fi", "fr"]
OTHERS = CODES[1:]
HELD_OUT = 7


def made_up_pairs(language: str) -> list[tuple[str, str]]:
    """Lines of a pair in an order of its own: 60 sentences are in all pairs, 45 in two, 150 in one."""
    here = OTHERS.index(language)
    numbers = [
        *range(60),
        *(n for n in range(100, 145) if n % 3 != here),
        *range(200 * (here + 1), 200 * (here + 1) + 150),
    ]
    pairs = [(f"Sentence {n}.", f"{language} {n}.") for n in numbers]
    pairs += pairs[:5] * 2
    pairs += [(f"Sentence {n}.", f"{language} {n} once more.") for n in range(10, 15)]
    pairs += [(f"SENTENCE {n} !", f"{language} {n} loudly") for n in range(20, 25)]
    pairs += [(f"Thanks, number {n}.", f"{language} thanks") for n in range(5)]
    pairs += [
        (f"Not translated {n}.", f"{OTHERS[here - 1]} {n}") for n in range(40)
    ]  # another language's sentences
    pairs += [("", f"{language} alone"), ("Alone.", " \t"), ("\0", "\ufeff"), ("", "")]
    pairs += [(f"  Spaces\x96and \u2028 controls {n}. ", f"\t{language}  spaces \x01{n}.") for n in range(3)]
    random.Random(language).shuffle(pairs)
    return pairs


def put(folder: Path, language: str, pairs: list[tuple[str, str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for code, side in zip(("en", language), zip(*pairs)):
        (folder / f"europarl-v7.{language}-en.{code}").write_bytes(
            "".join(f"{line}\n" for line in side).encode()
        )


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    for language in OTHERS:
        put(folder / "training", language, made_up_pairs(language))
    return folder


@pytest.fixture(scope="module")
def written(release, tmp_path_factory) -> dict[str, Path]:
    """What is written under each condition."""
    folders = {condition: tmp_path_factory.mktemp(condition) for condition in CONDITIONS}
    for condition, folder in folders.items():
        counts = read_release(release, folder, CODES, condition, HELD_OUT)
        assert counts["train"] == {f"{code}-en": len(training(folder, code)) for code in OTHERS}
        assert set(counts["valid"].values()) == set(counts["test"].values()) == {HELD_OUT}
    return folders


def release_pairs(language: str) -> list[tuple[str, str]]:
    """The usable lines of the release, cleaned, in their order."""
    cleaned = [tuple(map(clean_sentence, pair)) for pair in made_up_pairs(language)]
    return [pair for pair in cleaned if all(pair)]


def training(folder: Path, language: str) -> list[tuple[str, str]]:
    return list(
        zip(*(read_lines(folder / f"train.{language}-en.{code}") for code in ("en", language)), strict=True)
    )


def english(folder: Path) -> list[list[str]]:
    return [[sentence for sentence, _ in training(folder, code)] for code in OTHERS]


def held_out_rows(folder: Path) -> list[tuple[str, ...]]:
    """The sentences of valid, then of test, in all languages."""
    return [
        row
        for split in ("valid", "test")
        for row in zip(*(read_lines(folder / f"{split}.{code}") for code in CODES), strict=True)
    ]


def left_over(folder: Path, language: str) -> list[tuple[str, str]]:
    """The different pairs of the release without a held-out sentence, in their order."""
    held_out = {normalise(sentence) for row in held_out_rows(folder) for sentence in row}
    return [
        pair for pair in dict.fromkeys(release_pairs(language)) if held_out.isdisjoint(map(normalise, pair))
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# The conditions


def test_multiway_pairs_have_the_same_english_and_all_there_is(written):
    sentences = [set(side) for side in english(written["multiway"])]
    shared = set.intersection(
        *({pair[0] for pair in left_over(written["multiway"], code)} for code in OTHERS)
    )
    assert all(side == shared for side in sentences)


def test_without_overlap_no_english_sentence_is_in_two_pairs(written):
    sides = english(written["non_overlap"])
    assert len(set().union(*sides)) == sum(map(len, sides))
    everywhere = set.intersection(*({pair[0] for pair in release_pairs(code)} for code in OTHERS))
    assert all(set(side) - everywhere for side in sides), "not only what all pairs have is dealt"


def test_multiway_and_non_overlap_are_of_one_size(written):
    sizes = {len(side) for condition in ("multiway", "non_overlap") for side in english(written[condition])}
    assert len(sizes) == 1 and sizes.pop() > 30


def test_hands_that_are_smaller_than_the_multiway_pairs_are_still_of_one_size(tmp_path):
    for code in OTHERS:
        put(tmp_path / "release", code, [(f"Sentence {n}.", f"{code} {n}.") for n in range(100)])
    counts = read_release(tmp_path / "release", tmp_path / "target", CODES, "non_overlap", HELD_OUT)
    sides = english(tmp_path / "target")
    assert (
        len(set().union(*sides)) == sum(map(len, sides)) == 3 * len(sides[0]) == sum(counts["train"].values())
    )
    assert 15 <= len(sides[0]) <= (100 - 2 * HELD_OUT) / 3


@pytest.mark.parametrize("condition", ["multiway", "non_overlap"])
def test_an_english_sentence_has_one_line_the_first(written, condition):
    for code in OTHERS:
        first = {}
        for sentence, other in left_over(written[condition], code):
            first.setdefault(sentence, other)
        pairs = training(written[condition], code)
        assert len(dict(pairs)) == len(pairs)
        assert all(first[sentence] == other for sentence, other in pairs)


def test_full_is_everything_left_once_in_its_order(written):
    for code in OTHERS:
        assert training(written["full"], code) == left_over(written["full"], code)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_training_pairs_are_pairs_of_the_release_in_its_order(written, condition):
    for code in OTHERS:
        lines = iter(dict.fromkeys(release_pairs(code)))
        assert all(
            pair in lines for pair in training(written[condition], code)
        )  # `in` reads on: a subsequence


# What is held out


def test_held_out_sets_do_not_depend_on_the_condition(written):
    rows = [held_out_rows(folder) for folder in written.values()]
    assert rows[0] == rows[1] == rows[2] and len(set(rows[0])) == 2 * HELD_OUT


def test_a_held_out_row_is_one_line_of_each_pair_and_neither_side_has_another(written):
    for position, code in enumerate(OTHERS, start=1):
        pairs = release_pairs(code)
        counts = [Counter(normalise(pair[side]) for pair in pairs) for side in (0, 1)]
        for row in held_out_rows(written["full"]):
            pair = row[0], row[position]
            assert pair in pairs and [count[normalise(side)] for count, side in zip(counts, pair)] == [1, 1]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_held_out_sentence_of_any_language_is_trained_on(written, condition):
    counts, overlaps = check_overlap(written[condition], CODES)
    assert len(counts) == len(OTHERS) and not [*overlaps]


def test_another_languages_held_out_sentences_are_there_to_be_left_out(written):
    """The release has such sentences, so that the test above is not an empty one."""
    held_out = {normalise(sentence) for row in held_out_rows(written["full"]) for sentence in row[1:]}
    strangers = {
        pair for code in OTHERS for pair in release_pairs(code) if pair[0].startswith("Not translated")
    }
    assert any(normalise(other) in held_out for _, other in strangers)


def test_fewer_languages_are_a_corpus_of_their_own(release, tmp_path):
    read_release(release, tmp_path, ["en", "fr"], "multiway", 20)
    everything = {pair[0] for pair in release_pairs("fr")}
    held_out = {sentence for split in ("valid", "test") for sentence in read_lines(tmp_path / f"{split}.en")}
    assert len(held_out) == 40 and {pair[0] for pair in training(tmp_path, "fr")} | held_out == everything


# Draws


@pytest.mark.slow
def test_the_same_bytes_whatever_the_order_the_places_and_the_processes(release, written, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    for number, code in enumerate(reversed(OTHERS)):
        put(elsewhere / str(number), code, made_up_pairs(code))
        packed = elsewhere / str(number) / f"europarl-v7.{code}-en.en"
        packed.with_name(packed.name + ".gz").write_bytes(gzip.compress(packed.read_bytes()))
        packed.unlink()
    for condition, folder in written.items():
        for other, codes, workers in ((release, CODES, 1), (elsewhere, ["en", *reversed(OTHERS)], 3)):
            again = tmp_path / f"{condition} {workers}"
            read_release(other, again, codes, condition, HELD_OUT, workers=workers)
            assert contents(again) == contents(folder)


def test_the_seed_decides_what_is_held_out_and_who_gets_what(release, written, tmp_path):
    read_release(release, tmp_path, CODES, "non_overlap", HELD_OUT, seed=2)
    assert set(held_out_rows(tmp_path)) != set(held_out_rows(written["non_overlap"]))
    assert english(tmp_path) != english(written["non_overlap"])


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_number_of_pairs_bounds_each_pair(release, written, tmp_path, condition):
    counts = read_release(release, tmp_path, CODES, condition, HELD_OUT, pairs=11)
    assert set(counts["train"].values()) == {11}
    for code in OTHERS:
        assert set(training(tmp_path, code)) <= set(training(written["full"], code))
    if condition == "multiway":
        assert len({frozenset(side) for side in english(tmp_path)}) == 1
    assert held_out_rows(tmp_path) == held_out_rows(written[condition])


def test_every_sentence_is_dealt_to_one_of_its_owners_each_as_likely():
    generator = np.random.default_rng(1)
    everything = np.unique(generator.integers(2**64, size=6000, dtype=np.uint64))
    owned = {
        "de": everything[:5000],
        "fi": everything[1000:],
        "fr": everything[1000:5000],
        "it": everything[:0],
    }
    hands = deal(owned)
    assert np.array_equal(np.sort(np.concatenate([*hands.values()])), everything)
    assert all(np.isin(hand, owned[code]).all() for code, hand in hands.items())
    dealt = [np.isin(hand, everything[1000:5000]).sum() for hand in hands.values()]
    assert dealt[3] == 0 and all(
        abs(number - 4000 / 3) < 120 for number in dealt[:3]
    )  # four standard deviations


def test_the_log_counts_what_is_left_out(release, caplog):
    caplog.set_level("INFO", "zsnmt.corpora")
    files = [release / "training" / f"europarl-v7.de-en.{code}" for code in ("en", "de")]
    lines = digest_pair(files, seed=1)
    assert "europarl-v7.de-en.en: lines with an empty sentence, left out: 4" in caplog.text
    assert "europarl-v7.de-en.en: pairs that are there before, left out: 10" in caplog.text
    assert len(lines.number) == len(set(release_pairs("de")))


# Mistakes


@pytest.fixture
def damaged(release, tmp_path) -> Path:
    """A copy of the release, to be damaged."""
    return Path(shutil.copytree(release / "training", tmp_path / "damaged"))


def fails(folder: Path, tmp_path: Path, message: str, languages=CODES, **settings) -> None:
    target = tmp_path / "target"
    target.mkdir()
    for name in ("train.de-en.de", "valid.en", "notes.txt"):
        (target / name).write_text(f"earlier {name}\n")
    earlier = contents(target)
    with pytest.raises(InputError, match=message) as error:
        read_release(folder, target, languages, **{"held_out": HELD_OUT, **settings})
    assert "\n" not in str(error.value)
    assert contents(target) == earlier


def test_unequal_numbers_of_lines_are_refused(damaged, tmp_path):
    lines = len(made_up_pairs("fi"))
    with (damaged / "europarl-v7.fi-en.fi").open("a") as file:
        file.write("yksi lisää\nkaksi lisää\n")
    fails(
        damaged,
        tmp_path,
        rf"fi-en\.en has {lines} lines and .*fi-en\.fi has {lines + 2}; line n of one must be",
    )


def test_bytes_that_are_not_utf_8_are_refused_with_their_line(damaged, tmp_path):
    path = damaged / "europarl-v7.fr-en.fr"
    lines = path.read_bytes().split(b"\n")
    lines[40] = b"caf\xe9"
    path.write_bytes(b"\n".join(lines))
    fails(damaged, tmp_path, r"fr-en\.fr, line 41, byte 4: 0xe9 is not UTF-8")


def test_carriage_returns_are_refused(damaged, tmp_path):
    path = damaged / "europarl-v7.de-en.en"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    fails(damaged, tmp_path, r"de-en\.en, line 1 ends with a carriage return")


def test_a_byte_order_mark_is_no_part_of_a_sentence(damaged, written, tmp_path):
    path = damaged / "europarl-v7.de-en.de"
    path.write_bytes("\ufeff".encode() + path.read_bytes())
    read_release(damaged, tmp_path / "target", CODES, "full", HELD_OUT)
    assert contents(tmp_path / "target") == contents(written["full"])


def test_a_missing_file_is_named(damaged, tmp_path):
    (damaged / "europarl-v7.fi-en.en").unlink()
    fails(damaged, tmp_path, r"europarl-v7\.fi-en\.en.*zsnmt fetch europarl")


def test_an_empty_file_is_refused(damaged, tmp_path):
    (damaged / "europarl-v7.fi-en.en").write_bytes(b"")
    fails(damaged, tmp_path, r"fi-en\.en is empty")


def test_a_pair_without_sentences_is_refused(damaged, tmp_path):
    put(damaged, "fi", [("", "fi 1."), ("Sentence 2.", "")])
    fails(damaged, tmp_path, r"fi-en\.en and .*fi-en\.fi have no line with a sentence on both sides")


def test_fewer_shared_sentences_than_are_to_be_held_out_are_refused(release, tmp_path):
    fails(
        release,
        tmp_path,
        r"\d\d English sentences are in all of de-en, fi-en, fr-en and once in each, "
        r"fewer than the 200 to hold out; hold out fewer",
        held_out=100,
    )


@pytest.mark.parametrize("condition", CONDITIONS)
def test_nothing_left_to_train_on_is_refused(tmp_path, condition):
    for code in OTHERS:
        put(tmp_path / "release", code, [(f"Sentence {n}.", f"{code} {n}.") for n in range(2 * HELD_OUT)])
    fails(
        tmp_path / "release",
        tmp_path,
        f"no sentence is left to train .* under the condition {condition}",
        condition=condition,
    )


@pytest.mark.parametrize(
    "settings, message",
    [
        (
            {"condition": "overlap"},
            "unknown condition 'overlap': it must be one of multiway, non_overlap, full",
        ),
        ({"languages": ["de", "en"]}, "the first language must be en, here it is de"),
        ({"languages": ["en"]}, "two or more, each once"),
        ({"held_out": 0}, "one or more sentences must be held out and trained on, not 0 and None"),
        ({"pairs": 0}, f"one or more sentences must be held out and trained on, not {HELD_OUT} and 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(release, tmp_path, settings, message):
    fails(release, tmp_path, message, **settings)


def test_the_languages_of_the_paper_are_the_default():
    assert LANGUAGES == ("en", "da", "de", "es", "fi", "fr", "it", "nl", "pt")


# Memory

PEAK = """
import re, resource, sys
from pathlib import Path
from zsnmt.corpora.releases.europarl import read_release

read_release(Path(sys.argv[1]), Path(sys.argv[2]), ["en", "de", "fi"], "non_overlap", 100, workers=1)
own = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
print(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_memory(folder: Path, lines: int) -> int:
    """Bytes of the reader and its one worker together, with two pairs of so many lines, of 300 characters
    a side.
    """
    filling = "a word or two " * 21
    for code in ("de", "fi"):
        put(folder / "release", code, [(f"{filling}{n}", f"{code} {filling}{n}") for n in range(lines)])
    done = subprocess.run(
        [sys.executable, "-c", PEAK, folder / "release", folder / "target"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return 1024 * sum(map(int, done.stdout.split()))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_memory_grows_by_digests_not_by_text(tmp_path):
    few, many = 3000, 30000
    grown = peak_memory(tmp_path / "many", many) - peak_memory(tmp_path / "few", few)
    a_line = grown / (2 * (many - few))  # the text of a line is 600 bytes, and more as strings
    assert 0 < a_line < 200, f"{a_line:.0f} bytes a line"
