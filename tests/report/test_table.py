"""Tables from score files."""

from statistics import stdev

import pytest

from tests.report.made_up import made_up_scores
from zsnmt.errors import InputError
from zsnmt.report.table import cells, directions_table, markdown_table, mean_over_directions, text_table

SCORES = [made_up_scores("baseline", 1, 5.0), made_up_scores("baseline", 2, 8.0), made_up_scores("residual", 1, 14.0)]


def test_means_are_plain_means_over_the_directions_of_a_kind():
    assert mean_over_directions(SCORES[0], "supervised", "bleu") == 25.0
    assert mean_over_directions(SCORES[0], "zero_shot", "bleu") == pytest.approx(5.0)
    assert mean_over_directions(SCORES[0], "pivot", "off_target") == pytest.approx(0.01)


def test_a_single_seed_has_no_deviation_and_several_have():
    assert cells(SCORES[2:]) == ["25.0", "14.0", "15.5", "30.0 %", "1.0 %"]
    assert cells(SCORES[:2])[1] == f"6.5 ± {stdev([5.0, 8.0]):.1f}"


def test_runs_that_cannot_be_compared_are_refused():
    for change in (dict(config="other"), dict(signatures=dict(bleu="tok:intl")), dict(decoding=dict(beam=1))):
        with pytest.raises(InputError, match="cannot stand in one table"):
            text_table([SCORES[0], {**SCORES[1], **change}])
    with pytest.raises(InputError, match="given twice"):
        markdown_table([SCORES[0], SCORES[0]])


def test_kinds_that_were_not_scored_have_a_dash():
    supervised = [result for result in SCORES[0]["directions"] if result["kind"] == "supervised"]
    only = {**SCORES[0], "directions": supervised}
    assert cells([only]) == ["25.0", "–", "–", "–", "–"]
    assert "0 zero-shot" in text_table([only])


def test_the_terminal_table_is_aligned_and_says_what_the_figures_are():
    table = text_table(SCORES)
    header, rule, first, second = table.split("\n")[:4]
    assert len({len(line) for line in (header, rule, first, second)}) == 1
    assert first.startswith("baseline ") and second.startswith("residual ")
    for word in ("tok:13a", "2 supervised", "2 zero-shot", "through en", "py3langid", "1.0 %", "seed 1, 2"):
        assert word in table


def test_the_entry_for_results_names_command_commit_and_training_of_each_run():
    entry = markdown_table(SCORES)
    assert entry.count("commit aaaaaaaaaaaa") == 3 and entry.count("3 epochs") == 3
    assert "`bash recipes/train.sh x.conf residual`" in entry
    rows = [line for line in entry.split("\n") if line.startswith("|")]
    assert len(rows) == 4 and len({line.count("|") for line in rows}) == 1


def test_every_direction_has_a_row():
    rows = directions_table(SCORES).split("\n")
    assert len(rows) == 2 + 3 * 6
    assert "| `residual` | 1 | de-fr | pivot | 15.0 | 35.0 | 0.0 % |" in rows


def test_the_caption_says_what_was_left_out_of_training_and_of_the_test_set():
    overlap = {"en-de": dict(lines=1200, removed=3), "en-fr": dict(lines=800, removed=4)}
    scores = {**SCORES[0], "overlap": overlap, "decoding": dict(beam=4, lines=150)}
    shown = text_table([scores])
    assert "Of 2,000 training pairs 7 had a sentence of" in shown and "first 150 lines" in shown
    assert "training pairs" not in text_table(SCORES) and "lines of the test set" not in text_table(SCORES)


def test_the_entry_for_results_has_chrf_too():
    header, _, baseline, residual = markdown_table(SCORES).split("\n")[:4]
    place = header.split(" | ").index("zero-shot chrF++")
    assert residual.split(" | ")[place] == "34.0"
    assert baseline.split(" | ")[place].startswith("26.5 ±")
