"""Cleaning of training text: each rule, what comes first, and what is kept of what is left out."""

import json
import os
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from zsnmt.cli import run
from zsnmt.corpora import judging
from zsnmt.corpora.cleaning import (
    ALL_RULES,
    DUPLICATE,
    LANGUAGE,
    LENGTH,
    LONG,
    LONGEST,
    NEAR_DUPLICATE,
    RULES,
    Cleaning,
    parse_cleaning,
    repeat_earlier,
)
from zsnmt.corpora.judging import JudgedBlock
from zsnmt.corpora.training_text import make_training_text
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines, write_lines

LANGUAGES = ["en", "de"]
GOOD = [
    ("The children walk to the old house.", "Die Kinder gehen zu dem alten Haus."),
    ("We would like to know what you think.", "Wir möchten gerne wissen, was Sie denken."),
    ("He has lived here for many years.", "Er hat hier viele Jahre lang gewohnt."),
    ("The bus leaves at 7 in the morning.", "Der Bus fährt um 7 Uhr am Morgen ab."),
]


def write_text(
    folder: Path, *rows: tuple[str, str], test: tuple[str, str] = ("A test.", "Ein Test.")
) -> Path:
    """Training text of good rows and others, a test set of a row, and no validation set."""
    folder.mkdir(exist_ok=True)
    for side, language in enumerate(LANGUAGES):
        write_lines(folder / f"train.de-en.{language}", [row[side] for row in (*GOOD, *rows)])
        write_lines(folder / f"test.{language}", [test[side]])
    return folder


def count_process(block, **settings) -> JudgedBlock:
    """Keeps all lines, and counts the process that has judged them."""
    pair, rows = block
    return JudgedBlock(pair, bytearray(len(rows)), Counter([os.getpid()]), digests={})


def left_out(text: Path, cleaning: Cleaning = ALL_RULES, **settings) -> list[tuple[str, int]]:
    """The rule and the line, from 1, of what is left out besides overlap."""
    clean = text.with_name("clean")
    make_training_text(text, clean, LANGUAGES, cleaning=cleaning, **settings)
    rows = [line.split("\t") for line in (clean / "cleaning.tsv").read_text(encoding="utf-8").splitlines()]
    return [(rule, int(line)) for rule, _, line, *_ in rows]


BROKEN = {
    "empty": ("This one has no translation.", "... !"),
    "copy": ("Photo: John Smith", "PHOTO John Smith."),
    "long": ("long " * (LONGEST // 5) + "enough", "lang " * (LONGEST // 5) + "genug"),
    "length": ("Yes, of course, but we must not forget what happened to the others yesterday.", "Ja."),
    "language": ("This is what was not translated.", "This was never put into German at all."),
    "duplicate": GOOD[1],
    "near_duplicate": ("the bus leaves at 23 in the morning", "Der Bus fährt um 23 Uhr am Morgen ab!"),
}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_leaves_out_what_breaks_it_and_only_where_it_is_kept_to(tmp_path, rule):
    text = write_text(tmp_path / "text", BROKEN[rule])
    assert left_out(text) == [(rule, len(GOOD) + 1)]
    others = tuple(each for each in RULES if each != rule)
    instead = {DUPLICATE: NEAR_DUPLICATE, LENGTH: LANGUAGE}.get(rule)
    assert left_out(text, Cleaning(others)) == [(instead, len(GOOD) + 1)] * bool(instead)


def test_counts_and_list_stay_with_the_text_and_test_sets_as_they_are(tmp_path):
    text = write_text(tmp_path / "text", *BROKEN.values(), test=("Copied.", "Copied."))
    counts = make_training_text(text, tmp_path / "clean", LANGUAGES, cleaning=ALL_RULES)
    record = json.loads((tmp_path / "clean" / "cleaning.json").read_text())
    assert record["rules"] == str(ALL_RULES)
    assert record["pairs"]["en-de"] == {
        "lines": len(GOOD) + len(RULES),
        "overlap": 0,
        **dict.fromkeys(RULES, 1),
        "kept": len(GOOD),
    }
    assert counts["en-de"]["removed"] == 0 and counts["en-de"]["kept"] == len(GOOD)
    for side, language in enumerate(LANGUAGES):
        kept = read_lines(tmp_path / "clean" / f"train.de-en.{language}")
        assert kept == [row[side] for row in GOOD]
        assert read_lines(tmp_path / "clean" / f"test.{language}") == ["Copied."]
    rows = [line.split("\t") for line in read_lines(tmp_path / "clean" / "cleaning.tsv")]
    assert [row[0] for row in rows] == [*BROKEN]
    assert rows[1] == ["copy", "en-de", str(len(GOOD) + 2), *BROKEN["copy"]]


def test_what_overlaps_is_no_text_that_others_repeat_and_limits_come_last(tmp_path):
    """Line 5 is a test sentence, so line 6, which differs by its number, is kept."""
    rows = [(f"I have {number} dogs at home.", f"Ich habe {number} Hunde zu Hause.") for number in (3, 4, 5)]
    text = write_text(tmp_path / "text", *rows, test=rows[0])
    assert left_out(text) == [(NEAR_DUPLICATE, 7)]
    assert left_out(text, Cleaning((NEAR_DUPLICATE,)), limits={"": 3}) == [(NEAR_DUPLICATE, 7)]
    assert len(read_lines(tmp_path / "clean" / "train.de-en.de")) == 3


def test_processes_share_the_lines_of_a_pair_and_find_what_one_does(tmp_path, monkeypatch):
    """Also repetitions of lines that another process has judged."""
    repeated = [(english.upper(), german) for english, german in GOOD]
    text = write_text(tmp_path / "text", *BROKEN.values(), *GOOD, *repeated, *BROKEN.values(), test=GOOD[1])
    found = {}
    for block in (1, 3, 1000):
        monkeypatch.setattr(judging, "BLOCK", block)
        for workers in (1, 2, 3):
            left_out(text, workers=workers)
            found[block, workers] = {
                path.name: path.read_bytes() for path in (tmp_path / "clean").iterdir() if path.is_file()
            }
    assert len({*map(str, found.values())}) == 1
    rules = {line.split("\t")[0] for line in found[3, 2]["cleaning.tsv"].decode().splitlines()}
    assert rules == {*RULES} and found[3, 2]["overlap.tsv"]

    monkeypatch.setattr(judging, "BLOCK", 3)
    monkeypatch.setattr(judging, "judge_block", count_process)
    (judged,) = judging.judge(text, LANGUAGES, {}, workers=2)
    assert sum(judged.splits.values()) == -(-len(judged.verdicts) // 3) and os.getpid() not in judged.splits


def test_lengths_are_compared_by_those_of_the_whole_text(tmp_path):
    """A language that takes three characters for one is not unlike."""
    text = write_text(tmp_path / "text")
    write_lines(text / "train.de-en.de", [german * 3 for _, german in GOOD])
    assert left_out(text, Cleaning((LENGTH,))) == []
    write_lines(text / "train.de-en.de", [*(german * 3 for _, german in GOOD[:3]), GOOD[3][1] * 30])
    assert left_out(text, Cleaning((LENGTH,))) == [(LENGTH, 4)]
    assert left_out(text, Cleaning((LENGTH,), ratio=9)) == []


def test_a_side_has_as_many_characters_as_the_rule_says_and_no_more(tmp_path):
    rows = [("short", "x" * LONGEST), ("short", "x" * (LONGEST + 1)), ("x" * (LONGEST + 1), "kurz")]
    text = write_text(tmp_path / "text", *rows)
    assert left_out(text, Cleaning((LONG,))) == [(LONG, len(GOOD) + number) for number in (2, 3)]


def test_one_line_that_is_far_too_long_says_nothing_of_the_others(tmp_path):
    rows = [(f"There are {number} houses.", f"Es gibt {number} Häuser.") for number in range(50)]
    text = write_text(tmp_path / "text", *rows, ("A document.", "Ein Dokument. " * 1000))
    assert left_out(text, Cleaning((LONG, LENGTH))) == [(LONG, len(GOOD) + len(rows) + 1)]


def test_a_file_is_refused_where_more_than_half_of_its_lines_are_in_another_language(tmp_path):
    rows = [*GOOD, *GOOD, *GOOD][:10]
    text = write_text(tmp_path / "text")
    write_lines(text / "train.de-en.en", [english for english, _ in rows])
    for foreign in (4, 6):
        german = [row[number >= foreign] for number, row in enumerate(rows)]
        write_lines(text / "train.de-en.de", german)
        if foreign == 4:
            assert left_out(text, Cleaning((LANGUAGE,))) == [(LANGUAGE, line) for line in (1, 2, 3, 4)]
        else:
            with pytest.raises(InputError, match="60% of the lines of .*train.de-en.de are not in de"):
                left_out(text, Cleaning((LANGUAGE,)))


def test_a_script_tells_and_a_language_that_nobody_knows_has_no_other_test(tmp_path):
    text = write_text(tmp_path / "text", ("A sentence.", "Это предложение."), ("House.", "Qix vuo zal."))
    for file in text.glob("*.de"):
        file.rename(text / file.name.replace("de-en.de", "velan-en.velan").replace("test.de", "test.velan"))
    (text / "train.de-en.en").rename(text / "train.velan-en.en")
    make_training_text(text, tmp_path / "clean", ["en", "velan"], cleaning=Cleaning((LANGUAGE,)))
    assert [line.split("\t")[2] for line in read_lines(tmp_path / "clean" / "cleaning.tsv")] == ["5"]


def test_text_in_utf_16_is_told_of_before_its_language(tmp_path):
    text = write_text(tmp_path / "text")
    file = text / "train.de-en.de"
    file.write_text(file.read_text(encoding="utf-8"), encoding="utf-16")
    with pytest.raises(InputError, match="train.de-en.de is in UTF-16, not in UTF-8; convert it"):
        left_out(text)


def test_exchanged_files_are_told_of_where_their_scripts_differ_too(tmp_path):
    text = write_text(tmp_path / "text")
    write_lines(text / "train.de-en.en", ["Дети идут к старому дому.", "Он живёт здесь много лет."])
    write_lines(text / "train.de-en.de", [english for english, _ in GOOD[::2]])
    with pytest.raises(InputError, match="not in en, .*; give text in en"):  # there is no German
        left_out(text)
    for file in text.glob("*de*"):
        file.rename(text / file.name.replace("de", "ru"))
    with pytest.raises(InputError, match="en and ru seem to be exchanged: exchange the files"):
        make_training_text(text, tmp_path / "clean", ["en", "ru"], cleaning=Cleaning((LANGUAGE,)))


def test_text_of_another_language_than_its_name_is_refused_and_so_is_what_leaves_nothing(tmp_path):
    text = write_text(tmp_path / "text")
    write_lines(text / "train.de-en.de", [english for english, _ in GOOD])
    with pytest.raises(InputError, match="100% of the lines of .*train.de-en.de are not in de, .* or take"):
        left_out(text)
    write_lines(text / "train.de-en.en", [german for _, german in GOOD])
    with pytest.raises(InputError, match="(de and en|en and de) seem to be exchanged: exchange the files"):
        left_out(text)
    write_lines(text / "train.de-en.en", [english for english, _ in GOOD])
    with pytest.raises(
        InputError, match=r"nothing of .* 4 sentence pairs 0 overlap .* leave out 4 \(copy\);"
    ):
        left_out(text, Cleaning(("copy",)))
    write_lines(text / "train.de-en.de", ["Allein."])
    with pytest.raises(InputError, match="has 1 line and .* has 4"):
        left_out(text)


def test_rules_are_read_as_they_are_written():
    for setting in ("", "copy", "empty long=500 length=3.5 duplicate", str(ALL_RULES), "long=2000000"):
        assert str(parse_cleaning(setting)) == setting
    assert parse_cleaning("duplicate  copy") == Cleaning(("copy", DUPLICATE))
    assert parse_cleaning(f"{LONG}={LONGEST}") == Cleaning((LONG,))
    for wrong in ("clean", "copy copy", "copy=3", "long=many", "length=-1", "long="):
        with pytest.raises(InputError, match="is not a rule, or is there twice|gives no bound"):
            parse_cleaning(wrong)
    for setting, message in {
        "length=0.5": "at most 0.5; give 1 or more",
        "length=0": "at most 0; give 1 or more",
        "long=0": "no sentence has at most 0 characters; give long=1 or more",
    }.items():
        with pytest.raises(InputError, match=message):
            parse_cleaning(setting)


def test_repetitions_are_those_of_a_set_and_take_little_memory():
    digests = np.random.default_rng(1).integers(0, 2**63, 20_000, dtype=np.uint64)
    digests[1::3] = digests[:-1:3][: len(digests[1::3])]
    seen: set[int] = set()
    expected = []
    for digest in digests.tolist():
        expected.append(digest in seen)
        seen.add(digest)
    assert repeat_earlier(digests).tolist() == expected
    digests = np.tile(digests, 50)
    tracemalloc.start()
    repeat_earlier(digests)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(digests)  # a byte each for part and result, and a sixteenth of the sorting


def test_the_command_cleans_and_prints_counts(tmp_path, capsys):
    text = write_text(tmp_path / "text", BROKEN["copy"], BROKEN["length"])
    call = ["clean", str(text), str(tmp_path / "out"), "--languages", *LANGUAGES, "--rules"]
    run([*call, "copy length=2"])
    printed = capsys.readouterr()
    assert printed.out == "pair\tlines\toverlap\tcopy\tlength\tkept\nen-de\t6\t0\t1\t1\t4\n"
    said = "cleaning leaves out 2 of 6 training pairs: 1 (copy), 1 (length); cleaning.tsv beside the text"
    assert said in printed.err
    assert "most of the text" not in printed.err
    with pytest.raises(InputError, match="--rules names no rule; name some of"):
        run([*call, " "])


@pytest.mark.parametrize(
    "names", [["train.de", "train.en"], ["mine.tsv"], ["a.de-en.de", "train.de-en.de.txt"]]
)
def test_text_in_another_form_is_not_said_to_be_missing(tmp_path, names):
    for name in names:
        (tmp_path / name).write_text("en\tde\nYes.\tJa.\n")
    with pytest.raises(InputError, match="another form than train.xx-yy.xx .* give it to zsnmt train, which"):
        run(["clean", str(tmp_path), str(tmp_path / "out"), "--languages", *LANGUAGES])


def test_where_most_of_the_text_is_left_out_the_rule_is_named(tmp_path, capsys):
    screws = [f"Screw {number}." for number in range(9)], [f"Schraube {number}." for number in range(9)]
    text = write_text(tmp_path / "text", *zip(*screws))
    run(["clean", str(text), str(tmp_path / "out"), "--languages", *LANGUAGES])
    said = capsys.readouterr().err
    assert "8 (near_duplicate); cleaning.tsv" in said
    assert "That is most of the text; without the rule near_duplicate more is kept" in said
