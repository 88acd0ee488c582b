"""Training text without overlap and within limits; the script that makes it."""

import json
import random
import tracemalloc
from functools import partial
from itertools import compress
from pathlib import Path

import pytest

from tests.conftest import run_command
from zsnmt.cli import run
from zsnmt.corpora.judging import check_overlap
from zsnmt.corpora.limits import choose, limit_of, parse_limits
from zsnmt.corpora.overlap import find_overlaps, held_out_sentences
from zsnmt.corpora.training_text import make_training_text
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines, write_lines

LANGUAGES = ["en", "de", "fr"]
LINES, HELD_OUT = 40, 6


@pytest.fixture
def text(tmp_path) -> Path:
    """Lines 3 and 17 of German are test sentences, line 5 of the English of French a validation sentence."""
    folder = tmp_path / "text"
    folder.mkdir()
    for split in ("valid", "test"):
        for language in LANGUAGES:
            write_lines(
                folder / f"{split}.{language}", [f"{split} {language} {number}" for number in range(HELD_OUT)]
            )
    for language in ("de", "fr"):
        for side in (language, "en"):
            lines = [f"{language} {side} {number}" for number in range(1, LINES + 1)]
            if (language, side) == ("de", "de"):
                lines[2], lines[16] = "Test DE 4!", "test de 0"
            if (language, side) == ("fr", "en"):
                lines[4] = "Valid, en 1"
            write_lines(folder / f"train.{language}-en.{side}", lines)
    (folder / "lexicon.de").write_text("words\n")
    return folder


def pairs_of(folder: Path, language: str) -> list[tuple[str, str]]:
    return list(zip(*(read_lines(folder / f"train.{language}-en.{side}") for side in (language, "en"))))


def test_counts_say_what_overlaps_with_which_set(text):
    counts, overlaps = check_overlap(text, LANGUAGES, workers=2)
    assert counts == {
        "en-de": {"lines": LINES, "valid": 0, "test": 2, "overlapping": 2},
        "en-fr": {"lines": LINES, "valid": 1, "test": 0, "overlapping": 1},
    }
    first = next(overlaps)  # they are looked for as they are asked for
    assert [overlap.sentence for found in (first, *overlaps) for overlap in found] == [
        "Test DE 4!",
        "test de 0",
        "Valid, en 1",
    ]


def test_what_overlaps_is_left_out_and_nothing_else(text, tmp_path):
    counts = make_training_text(text, tmp_path / "clean", LANGUAGES)
    assert counts["en-de"]["removed"] == 2 and counts["en-de"]["kept"] == LINES - 2
    before = pairs_of(text, "de")
    assert pairs_of(tmp_path / "clean", "de") == before[:2] + before[3:16] + before[17:]
    assert pairs_of(tmp_path / "clean", "fr") == pairs_of(text, "fr")[:4] + pairs_of(text, "fr")[5:]
    for name in [*(f"test.{language}" for language in LANGUAGES), "valid.de", "lexicon.de"]:
        assert (tmp_path / "clean" / name).read_bytes() == (text / name).read_bytes()
    held_out = held_out_sentences(tmp_path / "clean", LANGUAGES)
    for pair in (("en", "de"), ("en", "fr")):
        assert not any(find_overlaps(tmp_path / "clean", pair, held_out))


def test_what_is_no_parallel_text_of_the_languages_is_not_copied(text, tmp_path):
    for name in (
        "README",
        "test.de~",
        "corpus.tar.gz",
        "settings.json",
        "test.de.part",
        "test.nl",
        "lexicon.nl",
        "test.de-nl.de",
    ):
        (text / name).write_text("something else\n")
    make_training_text(text, tmp_path / "clean", LANGUAGES)
    kept = {path.name for path in text.iterdir() if path.suffix[1:] in LANGUAGES} - {"test.de-nl.de"}
    assert {path.name for path in (tmp_path / "clean").iterdir()} == kept | {"overlap.json", "overlap.tsv"}


def test_counts_and_list_stay_with_the_text(text, tmp_path):
    counts = make_training_text(text, tmp_path / "clean", LANGUAGES)
    assert json.loads((tmp_path / "clean" / "overlap.json").read_text()) == counts
    rows = [line.split("\t") for line in read_lines(tmp_path / "clean" / "overlap.tsv")]
    assert rows[0] == ["train.de-en.de", "3", "test.de", "5", "Test DE 4!"] and len(rows) == 3
    again = make_training_text(tmp_path / "clean", tmp_path / "again", LANGUAGES)
    assert all(of_pair["removed"] == 0 for of_pair in again.values())
    assert (tmp_path / "again" / "overlap.tsv").read_text() == ""


def test_a_limit_keeps_whole_pairs_at_random_in_their_order(text, tmp_path):
    limits = parse_limits("30 de-en=10")
    counts = make_training_text(text, tmp_path / "one", LANGUAGES, limits, seed=1)
    assert counts["en-de"]["kept"] == 10 and counts["en-fr"]["kept"] == 30
    kept, clean = (
        pairs_of(tmp_path / "one", "de"),
        [pair for n, pair in enumerate(pairs_of(text, "de"), 1) if n not in (3, 17)],
    )
    assert [pair for pair in clean if pair in kept] == kept and len(set(kept)) == 10
    make_training_text(text, tmp_path / "same", LANGUAGES, limits, seed=1)
    make_training_text(text, tmp_path / "other", LANGUAGES, limits, seed=2)
    assert pairs_of(tmp_path / "same", "de") == kept != pairs_of(tmp_path / "other", "de")


@pytest.mark.parametrize("limit", [0, 1, 500, 1500, 1990, 1999])
def test_a_limit_leaves_out_what_random_would(limit):
    """Of 2000 lines without a fault, from a set of those drawn and from a list of those left."""
    verdicts = bytes(number % 3 == 0 for number in range(3000))
    places = [number for number, verdict in enumerate(verdicts) if verdict == 0]
    left_out = {places[each] for each in random.Random(1).sample(range(2000), 2000 - limit)}
    chosen = choose(verdicts, limit, random.Random(1))
    assert [*compress(range(3000), chosen)] == [place for place in places if place not in left_out]


def test_a_limit_needs_little_memory():
    lines = 100_000
    tracemalloc.start()
    choose(bytes(lines), lines // 2, random.Random(1))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 12 * lines


def test_limits_are_read_as_a_default_and_exceptions():
    assert parse_limits("") == {}
    limits = parse_limits("30000 de-en=14000")
    assert [limit_of(pair, limits) for pair in (("en", "de"), ("de", "en"), ("en", "fr"))] == [
        14000,
        14000,
        30000,
    ]
    assert limit_of(("en", "fr"), parse_limits("de-en=5")) is None


@pytest.mark.parametrize("setting", ["many", "0", "-3", "de-en", "de=5", "5 6", "de-en=", "1e3"])
def test_a_limit_that_is_none_is_refused(setting):
    with pytest.raises(InputError, match="write 30000|is not a direction"):
        parse_limits(setting)


def test_a_pair_has_one_limit():
    with pytest.raises(InputError, match="write 30000"):
        parse_limits("de-en=5 en-de=7")


def test_a_limit_for_a_pair_without_training_text_is_refused(text, tmp_path):
    with pytest.raises(InputError, match="no training text for nl-en"):
        make_training_text(text, tmp_path / "clean", LANGUAGES, parse_limits("nl-en=5"))
    assert not (tmp_path / "clean").exists()


@pytest.mark.parametrize("call", [["clean", "TEXT", "OUT"], ["check-overlap", "TEXT", "--remove-to", "OUT"]])
def test_the_commands_refuse_a_language_without_training_text(text, tmp_path, call):
    places = {"TEXT": str(text), "OUT": str(tmp_path / "out")}
    with pytest.raises(InputError, match="no training text for xy: files are named"):
        run([*(places.get(word, word) for word in call), "--languages", *LANGUAGES, "xy"])
    assert not (tmp_path / "out").exists()


def test_a_pair_that_overlaps_as_a_whole_stops(text, tmp_path):
    write_lines(text / "train.fr-en.fr", ["test fr 1"] * LINES)
    with pytest.raises(InputError, match="every sentence pair of .*train.fr-en.en overlaps"):
        make_training_text(text, tmp_path / "clean", LANGUAGES)


def test_misaligned_text_stops_before_anything_is_written(text, tmp_path):
    write_lines(text / "train.fr-en.fr", ["too few"])
    with pytest.raises(InputError, match="has 1 line and .* has 40;"):
        make_training_text(text, tmp_path / "clean", LANGUAGES)
    assert not (tmp_path / "clean").exists()


@pytest.mark.slow
def test_the_script_counts_lists_and_removes(text, tmp_path):
    script = "scripts/check_overlap.py"
    shown = run_command(script, text, "--languages", *LANGUAGES, "--list", tmp_path / "list.tsv")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == "pair\tlines\tvalid\ttest\toverlapping\nen-de\t40\t0\t2\t2\nen-fr\t40\t1\t0\t1\n"
    assert len(read_lines(tmp_path / "list.tsv")) == 3
    done = run_command(
        script, text, "--languages", *LANGUAGES, "--remove-to", tmp_path / "clean", "--pairs", "20"
    )
    assert (
        done.returncode == 0 and "3 training pairs overlap" in done.stderr and done.stdout.endswith("1\t20\n")
    )
    assert len(pairs_of(tmp_path / "clean", "de")) == 20
    assert (
        "overlap.tsv" in done.stderr and str(tmp_path) not in done.stderr
    )  # a recipe gives the folder another name
    again = run_command(script, text, "--languages", *LANGUAGES, "--remove-to", tmp_path / "clean")
    assert again.returncode == 1 and "is there already" in again.stderr
    refused = run_command(script, text, "--languages", *LANGUAGES, "--pairs", "20")
    assert refused.returncode == 1 and "--remove-to" in refused.stderr


def test_the_script_refuses_what_it_cannot_do(text, tmp_path):
    for options, message in (
        (
            ["--list", tmp_path / "list.tsv", "--remove-to", tmp_path / "clean"],
            "--remove-to: not allowed with argument --list",
        ),
        (["--workers", "0"], "'0' is not a whole number above 0"),
    ):
        refused = run_command("scripts/check_overlap.py", text, "--languages", *LANGUAGES, *options)
        assert refused.returncode != 0 and message in refused.stderr and "Traceback" not in refused.stderr
    assert not (tmp_path / "list.tsv").exists() and not (tmp_path / "clean").exists()


@pytest.mark.parametrize("languages", [["en", "de", "de"], ["en", "de", "en"]])
def test_a_language_that_is_named_twice_is_refused(tmp_path, languages):
    """Its pairs would be judged twice, and what is left out of them counted so."""
    for split in ("train", "valid", "test"):
        for language in ("en", "de"):
            write_lines(tmp_path / f"{split}.de-en.{language}", [f"{split} {language}"])
    for read in (check_overlap, partial(make_training_text, target=tmp_path / "made")):
        with pytest.raises(InputError, match=f"two or more, each once; here it is '{' '.join(languages)}'"):
            read(tmp_path, languages=languages)
    assert not (tmp_path / "made").exists()
