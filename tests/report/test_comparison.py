"""Tables of runs side by side."""

from statistics import fmean

import pytest

from tests.report.made_up import made_up_scores
from zsnmt.report.comparison import (
    BETWEEN,
    directions_table,
    families_table,
    gains_table,
    inside_seed_noise,
    runs_table,
    systems_table,
    tables,
)
from zsnmt.report.table import COLUMNS, cells

SCORES = [
    *(made_up_scores("baseline", seed, bleu) for seed, bleu in ((1, 5.0), (2, 8.0))),
    *(made_up_scores("residual", seed, bleu) for seed, bleu in ((1, 14.0), (2, 30.0))),
    made_up_scores("third", 1, 40.0),
]


def column(table, title):
    return [row[table.columns.index(title)] for row in table.rows]


def with_results(scores, **changes):
    return {**scores, "directions": [{**result, **changes} for result in scores["directions"]]}


def test_the_systems_have_the_figures_of_the_terminal_table():
    table = systems_table(SCORES)
    for row, runs in zip(table.rows, (SCORES[:2], SCORES[2:4], SCORES[4:])):
        shown = [str(cell) for cell in row[2 : 2 + len(COLUMNS)]]
        assert [text.split(" ±")[0].removesuffix(" %") for text in shown] == [text.split(" ±")[0].removesuffix(" %") for text in cells(runs)]
    assert column(table, "seeds") == ["1, 2", "1, 2", "1"]
    assert "tok:13a" in table.note


def test_zero_shot_minus_pivot_is_the_difference_of_the_means():
    found = column(systems_table(SCORES), "zero-shot minus pivot")
    assert found[2].mean == pytest.approx(40.0 - 15.5) and found[0].mean == pytest.approx(6.5 - 15.5)


def test_a_gain_is_marked_unless_it_leaves_the_seed_noise():
    near, far = column(gains_table(SCORES), "zero-shot")
    assert near.mean == pytest.approx(22.0 - 6.5) and near.note == "inside the seed noise"
    assert far.mean == pytest.approx(33.5) and far.note == "one seed"
    assert gains_table(SCORES[:2]) is None


def test_seed_noise_is_symmetric_grows_with_the_deviation_and_needs_two_seeds():
    for values, others, inside in (([1, 2], [11, 12], False), ([1, 9], [11, 19], True), ([5, 5], [5, 5], True)):
        assert inside_seed_noise(values, others) is inside_seed_noise(others, values) is inside
    assert inside_seed_noise([1.0], [2.0, 3.0]) is None


def test_families_are_means_over_directions_within_and_between():
    languages = ["en", "de", "nl", "fr"]
    bleu = {"de-nl": 1.0, "nl-de": 3.0, "de-fr": 10.0, "fr-nl": 20.0}
    result = SCORES[0]["directions"][2]
    scores = {**SCORES[0], "languages": languages, "directions": [
        {**result, "direction": direction, "kind": kind, "bleu": score + shift}
        for direction, score in bleu.items() for kind, shift in (("zero_shot", 0), ("pivot", 5))]}  # fmt: skip
    table = families_table([scores])
    assert column(table, "family") == ["Germanic", BETWEEN] and column(table, "directions") == ["2", "2"]
    assert [cell.mean for cell in column(table, "baseline zero-shot")] == [fmean([1, 3]), fmean([10, 20])]
    assert {cell.mean for cell in column(table, "baseline difference")} == {-5.0}


def test_families_that_are_not_known_have_no_table_unless_the_score_file_names_them():
    assert families_table(SCORES) is None  # German and French share none
    assert "families" not in tables(SCORES)
    named = [{**scores, "families": {"de": "One", "fr": "One"}} for scores in SCORES]
    assert column(families_table(named), "family") == ["One"]


def test_every_direction_and_system_has_a_row_and_nothing_is_made_up():
    table = directions_table(SCORES)
    assert len(table.rows) == 4 * 3 and column(table, "kind") == ["zero-shot"] * 6 + ["supervised"] * 6
    assert set(column(table, "BLEU through pivot")[6:]) == {None}
    assert not {"length ratio", "copied"} & set(tables(SCORES)["directions"].columns)


def test_what_score_files_have_beyond_the_usual_is_shown():
    scores = with_results(SCORES[4], copied=0.25, length_ratio=1.1, intervals={"bleu": [1.0, 99.0]})
    scores["intervals"] = {"zero_shot": {"bleu": [38.0, 42.0]}}
    made = tables([scores])
    assert str(column(made["directions"], "BLEU")[0]).endswith("[1.0, 99.0]")
    assert str(column(made["directions"], "copied")[0]) == "25.0 %" and str(column(made["directions"], "length ratio")[0]) == "1.10"
    assert str(column(made["systems"], "zero-shot")[0]) == "40.0 [38.0, 42.0]"
    assert "interval" in made["systems"].note
    assert "interval" not in systems_table(SCORES).note + systems_table([scores, {**scores, "seed": 2}]).note


def test_what_made_each_run_is_told():
    row = dict(zip(runs_table(SCORES).columns, runs_table(SCORES).rows[2]))
    assert row["command"] == "bash recipes/train.sh x.conf residual" and row["commit"] == "a" * 12 and row["seed"] == "1"


def test_supervised_directions_alone_are_enough():
    only = {**SCORES[0], "directions": [result for result in SCORES[0]["directions"] if result["kind"] == "supervised"]}
    made = tables([only])
    assert "zero-shot" not in made["systems"].columns and len(made["directions"].rows) == 2
