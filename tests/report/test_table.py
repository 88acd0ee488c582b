"""Figures with their spread, and tables of them for a terminal, as Markdown and as TSV."""

import csv
import io
from dataclasses import replace
from statistics import stdev

import pytest

from zsnmt.report.table import (
    FORMS,
    WIDTH,
    Measured,
    Table,
    format_cell,
    join_sentences,
    markdown_table,
    numbers_in_short,
    seed_cell,
    spread_note,
    text_rows,
    tsv,
    wrap,
)

TABLE = Table(
    "small",
    "A small table",
    ["name", "BLEU", "never"],
    [["a|b\tc", Measured("bleu", 20.25, 0.5), None], ["d", Measured("bleu", 3.0, note="one seed"), None]],
    "What it holds.",
)
GAIN = Measured("off_target", -0.125, interval=(-0.25, 0.0), difference=True, p=0.0209, note="one seed")


def test_a_figure_is_written_with_what_is_known_of_its_spread():
    assert str(Measured("bleu", 20.04)) == "20.0"
    assert str(Measured("off_target", 0.125, 0.01)) == "12.5 ± 1.0 %"
    assert str(Measured("bleu", 20.0, interval=(19.0, 21.5))) == "20.0 [19.0, 21.5]"
    assert str(Measured("length_ratio", 1.024)) == "1.02" and str(Measured("comet", 0.8217)) == "0.822"


def test_a_difference_has_its_sign_and_no_negative_zero():
    assert str(Measured("bleu", 3.0, difference=True)) == "+3.0"
    assert str(Measured("bleu", -0.01, difference=True)) == "+0.0"
    assert str(Measured("off_target", -0.5, difference=True, note="one seed")) == "−50.0 points (one seed)"


def test_a_difference_has_the_p_value_of_its_test():
    assert str(GAIN) == "−12.5 points [−25.0, 0.0] p = 0.021 (one seed)"
    assert str(Measured("bleu", 2.0, 1.0, difference=True, p=1.0)) == "+2.0 ± 1.0 p = 1.000"
    assert str(Measured("bleu", 2.0, difference=True, p=1 / 1001)) == "+2.0 p = 0.001"
    assert str(Measured("bleu", 2.0, difference=True, p=1 / 10_001)) == "+2.0 p < 0.001"  # and never 0


def test_a_deviation_needs_two_seeds_and_an_interval_one():
    assert seed_cell("bleu", [1.0, 4.0], interval=[0.0, 2.0]) == Measured("bleu", 2.5, stdev([1.0, 4.0]))
    assert seed_cell("bleu", [1.0], interval=[0.0, 2.0]) == Measured("bleu", 1.0, interval=(0.0, 2.0))
    assert str(seed_cell("reference_error", [0.01, 0.01])) == "1.0 %"


@pytest.mark.parametrize("values", [[], [None], [1.0, None]])
def test_a_figure_that_a_seed_lacks_is_not_made_up(values):
    assert seed_cell("bleu", values) is None and format_cell(None) == "–"


def test_markdown_keeps_its_columns_whatever_the_cells_hold():
    rows = [line for line in markdown_table(TABLE).split("\n") if line.startswith("|")]
    assert len(rows) == 4 and {line.replace("\\|", "").count("|") for line in rows} == {4}
    titled = replace(TABLE, columns=["a|b", *TABLE.columns[1:]])
    assert markdown_table(titled).split("\n")[2].startswith("| a\\|b |")
    assert "20.2 ± 0.5" in markdown_table(TABLE) and "What it holds." in markdown_table(TABLE)
    assert markdown_table(replace(TABLE, signatures="BLEU: tok:13a.")).endswith(" BLEU: tok:13a.\n")


def test_tsv_has_numbers_in_columns_of_their_own():
    rows = list(csv.DictReader(io.StringIO(tsv(TABLE)), delimiter="\t"))
    assert [float(row["BLEU"]) for row in rows] == [20.25, 3.0]
    assert [row["BLEU deviation"] for row in rows] == ["0.5", ""] and rows[1]["BLEU note"] == "one seed"
    assert rows[0]["name"] == "a|b c" and not {"BLEU low", "BLEU high", "BLEU p"} & {*rows[0]}


def test_tsv_has_interval_and_p_value_in_the_units_of_the_score_file():
    table = Table(
        "gains",
        "",
        ["system", "off-target"],
        [["a", GAIN], ["b", Measured("off_target", 0.5, difference=True)]],
        "",
    )
    first, second = csv.DictReader(io.StringIO(tsv(table)), delimiter="\t")
    found = {part: first[f"off-target {part}"] for part in ("low", "high", "p", "note")}
    assert found == {"low": "-0.25", "high": "0.0", "p": "0.0209", "note": "one seed"}
    assert {second[f"off-target {part}"] for part in found} == {""} and float(second["off-target"]) == 0.5


def test_a_note_explains_what_stands_beside_the_figures_and_nothing_else():
    plain = Table("plain", "", ["BLEU"], [[Measured("bleu", 1.0)]], "What it holds.")
    assert plain.note == "What it holds." and "±" in TABLE.note and "bootstrap" not in TABLE.note
    tested = Table("tested", "", ["gain"], [[GAIN]], "")
    assert (
        "In brackets 95 % intervals" in tested.note and "p: paired" in tested.note and "±" not in tested.note
    )
    assert spread_note([plain]) == "" and spread_note([plain, TABLE, tested]) == join_sentences(
        [spread_note([TABLE]), tested.note]
    )
    assert TABLE.only(["name"]).note == "What it holds."


def test_columns_are_left_out_where_no_row_has_a_cell_and_chosen_in_the_order_asked_for():
    assert TABLE.without_empty_columns().columns == ["name", "BLEU"]
    assert TABLE.numbers() == [False, True, False] and set(FORMS) >= {"bleu", "chrf", "off_target"}
    chosen = TABLE.only(["BLEU", "not there", "name"])
    assert chosen.columns == ["BLEU", "name"] and [row[1] for row in chosen.rows] == ["a|b\tc", "d"]


def test_in_a_terminal_a_row_is_a_column_and_all_are_aligned():
    name, rule, bleu, never = text_rows(
        replace(TABLE, rows=[["long name", *TABLE.rows[0][1:]], *TABLE.rows[1:]])
    ).split("\n")
    places = [name.index("long name"), name.index("d", 14)]
    assert (
        (bleu.index("20.2 ± 0.5"), bleu.index("3.0 (one seed)"))
        == (never.index("–"), never.rindex("–"))
        == tuple(places)
    )
    assert {*rule} == {"-"} and len(rule) == max(map(len, (name, bleu, never)))


def test_in_a_terminal_columns_that_do_not_fit_follow_below_with_the_titles_again():
    rows = [["x", f"a long name, {number}", Measured("bleu", float(number))] for number in range(12)]
    table = Table("wide", "", ["kind", "system", "BLEU"], rows, "", 2)
    blocks = [block.split("\n") for block in text_rows(table).split("\n\n")]
    assert all(len(line) <= WIDTH for block in blocks for line in block) and len(blocks) == 3
    assert {(block[0][:4], block[1][:6], block[2][:3], block[3][:4]) for block in blocks} == {
        ("kind", "system", "---", "BLEU")
    }
    assert [float(value) for block in blocks for value in block[3].split()[1:]] == [*range(12)]
    narrow = text_rows(table, width=1).split("\n\n")
    assert len(narrow) == 12  # a column that is too wide stands alone


def test_prose_is_wrapped_without_breaking_what_is_longer_than_a_line():
    signature = "x" * 110 + "-y"
    assert wrap(f"{'word ' * 30}{signature}").split("\n") == [
        ("word " * 20).rstrip(),
        ("word " * 10).rstrip(),
        signature,
    ]


@pytest.mark.parametrize(
    "numbers, shown",
    [
        ([], ""),
        ([2], "2"),
        ([3, 1, 2], "1, 2, 3"),
        ([1, 2, 3, 4], "1–4"),
        ([1, 2, 7, 8, 9, 10, 12], "1, 2, 7–10, 12"),
        (range(1, 25), "1–24"),
    ],
)
def test_many_neighbours_are_a_range(numbers, shown):
    assert numbers_in_short(numbers) == shown
