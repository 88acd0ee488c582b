"""MultiNLI and XNLI, in small: both forms of a release say the same, and what breaks their form is
refused.
"""

import gzip
from pathlib import Path

import pytest

from tests.support.nli import (
    DEV,
    LANGUAGES,
    MULTINLI,
    MULTINLI_COLUMNS,
    TRAIN,
    XNLI_COLUMNS,
    XNLI_DEV,
    records,
    write_json_lines,
    write_releases,
    write_table,
)
from zsnmt.corpora.releases.xnli import LABELS, Pair, read_multinli, read_xnli
from zsnmt.errors import InputError


def test_both_forms_of_a_release_give_its_pairs_as_they_are(tmp_path):
    multinli, xnli = write_releases(tmp_path / "json")
    read = read_multinli(multinli), read_xnli(xnli, "dev", LANGUAGES)
    multinli, xnli = write_releases(tmp_path / "table", json_lines=False)
    assert read == (read_multinli(multinli), read_xnli(xnli, "dev", LANGUAGES))
    expected = [
        Pair(row["sentence1"], row["sentence2"], row["gold_label"]) for row in records("en", TRAIN, 1)
    ]
    assert (
        read[0] == expected
        and read[0][0].premise.startswith('"')
        and {pair.label for pair in read[0]} == {*LABELS}
    )
    assert {language: len(pairs) for language, pairs in read[1].items()} == dict.fromkeys(LANGUAGES, DEV)


def test_languages_come_in_the_order_asked_for(tmp_path):
    _, xnli = write_releases(tmp_path)
    assert [*read_xnli(xnli, "test", ["hi", "en"])] == ["hi", "en"]


def test_json_lines_are_preferred_in_any_folder_below_packed_or_not(tmp_path):
    multinli, _ = write_releases(tmp_path)
    plain = multinli / f"{MULTINLI}.jsonl"
    plain.with_name(f"{plain.name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    (multinli / f"{MULTINLI}.txt").write_text("not looked at\n")
    assert len(read_multinli(tmp_path)) == TRAIN


def test_pairs_without_gold_label_or_sentence_are_left_out_and_counted(tmp_path, caplog):
    rows = records("en", 5, 1)
    rows[1]["gold_label"] = rows[3]["gold_label"] = "-"
    rows[2]["sentence2"] = " \u2028 "
    rows[4]["sentence1"] = " two \u00a0 spaces "
    write_table(tmp_path / f"{MULTINLI}.txt", MULTINLI_COLUMNS, rows)
    pairs = read_multinli(tmp_path)
    assert [pair.premise for pair in pairs] == [rows[0]["sentence1"], "two spaces"]
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "multinli_1.0_train.txt: pairs without a gold label, left out: 2",
        "multinli_1.0_train.txt: pairs without two sentences, left out: 1",
    ]


def test_a_row_may_end_before_columns_that_are_empty(tmp_path):
    path = tmp_path / f"{MULTINLI}.txt"
    write_table(path, MULTINLI_COLUMNS, records("en", 4, 1))
    before = read_multinli(tmp_path)
    path.write_text("".join(line.rstrip("\t\n") + "\n" for line in path.read_text().splitlines()))
    assert read_multinli(tmp_path) == before


def change_line(path: Path, number: int, change) -> None:
    lines = path.read_text().split("\n")
    lines[number - 1] = change(lines[number - 1])
    path.write_text("\n".join(lines))


@pytest.mark.parametrize(
    "number, change, message",
    [
        (
            1,
            lambda line: line.replace("gold_label", "label"),
            "line 1 names no column gold_label; the first line must be the header",
        ),
        (
            3,
            lambda line: line.replace("entailment", "yes").replace("neutral", "yes"),
            "line 3 has the label 'yes', which is not one of",
        ),
        (3, lambda line: line + "\tmore", "line 3 has 16 columns, and the header 15; get the release again"),
        (4, lambda line: "\t".join(line.split("\t")[:6]), "line 4 has 6 columns, and the header 15"),
        (2, lambda line: "", "line 2 has 1 column,"),
        (1, lambda line: line + "\r", "line 1 ends with a carriage return"),
    ],
)
def test_a_table_of_another_form_is_refused(tmp_path, number, change, message):
    path = tmp_path / f"{MULTINLI}.txt"
    write_table(path, MULTINLI_COLUMNS, records("en", 5, 1))
    change_line(path, number, change)
    with pytest.raises(InputError, match=f"{path}, {message}"):
        read_multinli(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line[:-1],
        lambda line: "[1]",
        lambda line: "3",
        lambda line: line.replace("sentence2", "hypothesis"),
        lambda line: '{"gold_label": null}',
    ],
)
def test_a_line_that_is_no_such_object_is_refused(tmp_path, change):
    path = tmp_path / f"{MULTINLI}.jsonl"
    write_json_lines(path, MULTINLI_COLUMNS, records("en", 5, 1))
    change_line(path, 3, change)
    with pytest.raises(
        InputError,
        match=f"{path}, line 3 is not a JSON object with text in gold_label, sentence1, sentence2; get",
    ):
        read_multinli(tmp_path)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(
        InputError, match="have no multinli_1.0_train.jsonl and no multinli_1.0_train.txt; unpack the release"
    ):
        read_multinli(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        read_xnli(tmp_path / "nowhere", "dev", LANGUAGES)
    _, xnli = write_releases(tmp_path)
    with pytest.raises(InputError, match="xnli.dev.jsonl has no pairs in 'fi'; choose from ar, en, de, hi"):
        read_xnli(xnli, "dev", ["en", "fi"])


def test_languages_of_unequal_numbers_of_pairs_are_refused(tmp_path):
    rows = [row for language in LANGUAGES for row in records(language, 6, 1)]
    write_table(tmp_path / f"{XNLI_DEV}.tsv", XNLI_COLUMNS, rows[:-2])
    with pytest.raises(InputError, match=r"more pairs in one language than in another \(en 6, de 6, hi 4\)"):
        read_xnli(tmp_path, "dev", LANGUAGES)
    assert len(read_xnli(tmp_path, "dev", ["de"])["de"]) == 6


def test_a_release_without_any_usable_pair_is_refused(tmp_path):
    write_table(
        tmp_path / f"{MULTINLI}.txt",
        MULTINLI_COLUMNS,
        [row | {"gold_label": "-"} for row in records("en", 3, 1)],
    )
    with pytest.raises(InputError, match="has no pair with a label and two sentences"):
        read_multinli(tmp_path)
