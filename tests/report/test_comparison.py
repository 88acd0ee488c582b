"""The comparison for a terminal and for RESULTS.md."""

from dataclasses import replace

import pytest

from tests.conftest import ROOT
from tests.support.kept import CONFIGS
from tests.support.resampled import with_resamples
from tests.support.scores import all_changed, made_up_scores, only
from zsnmt.errors import InputError
from zsnmt.languages import SUPERVISED
from zsnmt.report.comparison import every_direction, markdown_table, text_table
from zsnmt.report.documents import kept_scores
from zsnmt.report.scores import columns_of
from zsnmt.report.systems import gains_table
from zsnmt.report.table import WIDTH, markdown_rows, text_rows
from zsnmt.runs.ways import DIRECT
from zsnmt.scoring.figures import ALL

SCORES = [
    made_up_scores("baseline", 1, 5.0),
    made_up_scores("baseline", 2, 8.0),
    made_up_scores("residual", 1, 14.0),
]
RESAMPLED = [*map(with_resamples, SCORES)]
COLUMNS = [column.title for column in columns_of(SCORES, ALL)]


def test_runs_that_cannot_be_compared_are_refused():
    for change in (dict(config="other"), dict(signatures=dict(bleu="tok:intl")), dict(decoding=dict(beam=1))):
        with pytest.raises(InputError, match="cannot stand in one table"):
            text_table([SCORES[0], replace(SCORES[1], **change)])
    with pytest.raises(InputError, match="given twice"):
        markdown_table([SCORES[0], SCORES[0]])


def test_kinds_that_were_not_scored_are_not_printed():
    supervised = only(SCORES[0], (SUPERVISED, DIRECT))
    table, caption, *_ = text_table([supervised]).split("\n\n")
    assert "over 2 supervised directions;" in caption and [
        line.split("  ")[0] for line in table.split("\n")[2:]
    ] == ["seeds", "supervised"]


def test_the_terminal_has_a_column_a_system_and_says_what_the_figures_are():
    header, rule, *lines = text_table(SCORES).split("\n\n")[0].split("\n")
    assert header.split() == ["system", "baseline", "residual"] and {*rule} == {"-"}
    assert [line[: header.index("baseline")].rstrip() for line in lines] == [
        "seeds",
        *COLUMNS,
        "zero-shot minus pivot",
    ]
    places = [header.index(system) for system in ("baseline", "residual")]
    assert lines[2][places[0] :].startswith("6.5 ± 2.1") and lines[2][places[1] :] == "14.0"
    for word in ("tok:13a", "2 supervised", "2 zero-shot", "through en", "py3langid", "1.0 %", "1, 2"):
        assert word in text_table(SCORES)
    assert "COMET" not in text_table(SCORES) and "chrF" not in text_table(SCORES)


def test_two_systems_with_intervals_and_p_values_fit_a_terminal():
    names = {"baseline": "zs_transformer", "residual": "zs_transformer_residual"}
    families = {"de": "One", "fr": "One"}
    for all_scores in (SCORES, RESAMPLED):
        shown = text_table(
            [replace(scores, system=names[scores.system], families=families) for scores in all_scores]
        )
        assert max(map(len, shown.split("\n"))) <= WIDTH
    assert shown.count(" p = ") >= 2 + len(COLUMNS) + 2


def test_what_stands_beside_the_figures_is_explained_once_whatever_the_number_of_tables():
    for table in (text_table(RESAMPLED), markdown_table(RESAMPLED)):
        prose = " ".join(table.split())
        assert "Difference from baseline:" in prose
        assert [
            prose.count(words) for words in ("± is the deviation", "In brackets", "p: paired bootstrap")
        ] == [1, 1, 1]
    assert "In brackets" not in text_table(SCORES) and "±" not in text_table(SCORES[:1])


def test_both_forms_have_the_gains_and_the_families():
    named = [replace(scores, families={"de": "One", "fr": "One"}) for scores in RESAMPLED]
    for table in (text_table(named), markdown_table(named)):
        assert (
            table.index("Difference from baseline:")
            < table.index("Language families:")
            < table.index("In brackets")
        )
    assert text_rows(gains_table(named)) in text_table(named) and markdown_rows(
        gains_table(named)
    ) in markdown_table(named)
    assert "Difference" not in text_table(SCORES[:2]) and "families" not in text_table(SCORES)


def test_the_entry_for_results_names_command_commit_and_training_of_each_run():
    entry = markdown_table(SCORES)
    assert entry.count("commit aaaaaaaaaaaa") == 3 and entry.count("3 epochs") == 3
    assert "`bash recipes/train.sh x.conf residual`" in entry
    for block in entry.split("\n\n"):
        rows = [line for line in block.split("\n") if line.startswith("|")]
        assert len({line.count("|") for line in rows}) <= 1
    assert len(entry.split("\n\n")[0].split("\n")) == 2 + 2


def test_the_entry_for_results_has_chrf_and_comet_with_what_they_depend_on():
    assert "COMET" not in markdown_table(SCORES)
    signatures = dict(bleu="tok:13a", chrf="nc:6", off_target="py3langid", comet="wmt22")
    entry = markdown_table(
        [replace(all_changed(scores, comet=0.5), signatures=signatures) for scores in SCORES]
    )
    header, _, baseline, residual = entry.split("\n")[:4]
    place = header.split(" | ").index("zero-shot chrF++")
    assert residual.split(" | ")[place] == "34.0" and baseline.split(" | ")[place].startswith("26.5 ±")
    assert baseline.split(" | ")[header.split(" | ").index("zero-shot COMET")] == "0.500"
    assert entry.count("chrF++: nc:6; COMET: wmt22.") == 1


def test_every_direction_and_system_has_a_row():
    rows = every_direction(SCORES).split("\n")
    assert len(rows) == 2 + 4 * 2 and len({row.count("|") for row in rows}) == 1
    residual = next(row for row in rows if row.startswith("| de-fr | zero-shot | residual |"))
    found = dict(zip(rows[0].split(" | "), residual.split(" | ")))
    expected = {
        "BLEU": "13.0",
        "BLEU through pivot": "15.0",
        "direct minus pivot": "−2.0",
        "chrF++": "33.0",
        "off-target": "50.0 %",
    }
    assert found == found | expected
    assert (
        next(row for row in rows if row.startswith("| de-en")).split(" | ")[4] == "–"
    )  # nothing through the pivot


@pytest.mark.parametrize("config", CONFIGS)
def test_kept_score_files_are_printed_in_every_form(config):
    all_scores = kept_scores(ROOT / "docs" / "results", config)
    for form in (text_table, markdown_table, every_direction):
        printed = form(all_scores)
        assert all(scores.system in printed for scores in all_scores)
