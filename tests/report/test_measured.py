"""Figures with their spread, and tables as Markdown and TSV."""

import csv
import io
from statistics import stdev

import pytest

from zsnmt.report.measured import FORMS, Measured, Table, markdown, over_seeds, shown, tsv

TABLE = Table(
    "small",
    "A small table",
    ["name", "BLEU", "never"],
    [["a|b\tc", Measured("bleu", 20.25, 0.5), None], ["d", Measured("bleu", 3.0, note="one seed"), None]],
    "What it holds.",
)


def test_a_figure_is_written_with_what_is_known_of_its_spread():
    assert str(Measured("bleu", 20.04)) == "20.0"
    assert str(Measured("off_target", 0.125, 0.01)) == "12.5 ± 1.0 %"
    assert str(Measured("bleu", 20.0, interval=(19.0, 21.5))) == "20.0 [19.0, 21.5]"
    assert str(Measured("length_ratio", 1.024)) == "1.02"


def test_a_difference_has_its_sign_and_no_negative_zero():
    assert str(Measured("bleu", 3.0, difference=True)) == "+3.0"
    assert str(Measured("bleu", -0.01, difference=True)) == "+0.0"
    assert str(Measured("off_target", -0.5, difference=True, note="one seed")) == "−50.0 points (one seed)"


def test_a_deviation_needs_two_seeds_and_an_interval_one():
    assert over_seeds("bleu", [1.0, 4.0], interval=[0.0, 2.0]) == Measured("bleu", 2.5, stdev([1.0, 4.0]))
    assert over_seeds("bleu", [1.0], interval=[0.0, 2.0]) == Measured("bleu", 1.0, interval=(0.0, 2.0))
    assert str(over_seeds("reference_error", [0.01, 0.01])) == "1.0 %"


@pytest.mark.parametrize("values", [[], [None], [1.0, None]])
def test_a_figure_that_a_seed_lacks_is_not_made_up(values):
    assert over_seeds("bleu", values) is None and shown(None) == "–"


def test_markdown_keeps_its_columns_whatever_the_cells_hold():
    rows = [line for line in markdown(TABLE).split("\n") if line.startswith("|")]
    assert len(rows) == 4 and {line.replace("\\|", "").count("|") for line in rows} == {4}
    assert "20.2 ± 0.5" in markdown(TABLE) and "What it holds." in markdown(TABLE)


def test_tsv_has_numbers_in_columns_of_their_own():
    rows = list(csv.DictReader(io.StringIO(tsv(TABLE)), delimiter="\t"))
    assert [float(row["BLEU"]) for row in rows] == [20.25, 3.0]
    assert [row["BLEU deviation"] for row in rows] == ["0.5", ""] and rows[1]["BLEU note"] == "one seed"
    assert rows[0]["name"] == "a|b c" and "BLEU low" not in rows[0]


def test_columns_without_a_cell_are_left_out():
    assert TABLE.without_empty_columns().columns == ["name", "BLEU"]
    assert TABLE.numbers() == [False, True, False] and set(FORMS) >= {"bleu", "chrf", "off_target"}
