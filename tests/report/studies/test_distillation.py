"""The table of what students learn."""

from dataclasses import replace

import pytest

from tests.conftest import ROOT
from tests.support.scores import made_up_scores
from zsnmt.languages import ZERO_RESOURCE, ZERO_SHOT
from zsnmt.report.studies.distillation import distillation_table, remedies_table
from zsnmt.runs.grid import CONTROL
from zsnmt.runs.log import Summary
from zsnmt.runs.remedies import REMEDIES
from zsnmt.runs.systems import BASELINE, RESIDUAL, STUDENTS


def learned(scores):
    """The scores of a student that has learned the zero-shot directions."""
    results = [
        replace(result, kind=ZERO_RESOURCE) if result.kind == ZERO_SHOT else result
        for result in scores.results
    ]
    return replace(scores, results=results)


def test_each_teacher_has_a_row_and_one_for_each_of_its_students():
    teacher = [made_up_scores(BASELINE.name, seed, bleu) for seed, bleu in ((1, 4.0), (2, 6.0))]
    control = made_up_scores(f"{BASELINE.name}_{STUDENTS['none']}", 1, 7.0)
    student = learned(made_up_scores(f"{BASELINE.name}_{STUDENTS['both']}", 1, 20.0))
    other = made_up_scores(RESIDUAL.name, 1, 9.0)
    table = distillation_table([*teacher, control, student, other])
    assert [row[:3] for row in table.rows] == [
        [BASELINE.name, "", "1"],  # of the seed that taught
        [BASELINE.name, "nothing new, for as long", "1"],
        [BASELINE.name, "synthetic targets and sources", "1"],
    ]
    direct = table.columns.index("others, directly")
    assert [row[direct].mean for row in table.rows] == pytest.approx([4.0, 7.0, 20.0])
    assert RESIDUAL.name not in table.signatures


def test_a_system_has_a_row_for_each_remedy_after_the_control():
    systems = [BASELINE.name, f"{BASELINE.name}_consistency", f"{BASELINE.name}_continued", RESIDUAL.name]
    table = remedies_table([made_up_scores(system, 1, bleu) for bleu, system in enumerate(systems, 3)])
    assert [row[1] for row in table.rows] == ["", "none, for as long", "consistency"]
    direct = table.columns.index("others, directly")
    assert [row[direct].mean for row in table.rows] == pytest.approx([3.0, 5.0, 4.0])


@pytest.mark.parametrize(
    "seed, updates, kept", [(1, 1000, True), (1, 1040, True), (1, 3000, False), (2, 1000, False)]
)
def test_a_control_is_one_of_what_was_trained_for_as_long_from_the_same_seed(seed, updates, kept):
    ends = ("", "_consistency", "_agreement")
    trained = replace(made_up_scores("", 1, 5.0), training=str(Summary(3, 1000, loss=1.0, best_epoch=3)))
    runs = [replace(trained, system=f"{BASELINE.name}{end}") for end in ends]
    length = str(Summary(3, updates, loss=1.0, best_epoch=3))
    control = replace(trained, system=f"{BASELINE.name}_{CONTROL}", seed=seed, training=length)
    rows = [row[1] for row in remedies_table([*runs, control]).rows]
    assert rows == ["", *["none, for as long"] * kept, "consistency", "agreement"]


def test_docs_list_the_options_that_each_remedy_stands_for():
    text = (ROOT / "docs" / "grid.md").read_text(encoding="utf-8")
    for remedy, options in REMEDIES.items():
        own = " ".join(options).removeprefix("--criterion zs_cross_entropy ")
        row = next(line for line in text.splitlines() if line.startswith(f"| `{remedy}` | "))
        assert row.endswith(f"| `{own}` |")


@pytest.mark.parametrize("systems", [[BASELINE.name], [BASELINE.name, "zs_transformer_distilled"]])
def test_one_student_is_no_comparison(systems):
    assert distillation_table([made_up_scores(system, 1, 5.0) for system in systems]) is None
