"""Which run translates through the pivot where that is to be the baseline."""

import json
from pathlib import Path

import pytest

from zsnmt.cli.common.recipe import Recipe
from zsnmt.cli.common.scoring import chosen_pivot
from zsnmt.evaluation.baseline import baseline_of


def make_run(run: Path, architecture: str = "zs_transformer", **record: object) -> Path:
    """A run folder that is trained, as its files say."""
    run.mkdir(parents=True)
    (run / "model.pt").touch()
    (run / "train.command").write_text(f"fairseq-train data --arch {architecture}")
    about = {"config": "own", "system": run.parent.name, "seed": 1, "text": "text", **record}
    (run / "run.json").write_text(json.dumps(about))
    return run


def taught_by(run: Path) -> dict[str, object]:
    return {"distilled_from": {"run": str(run), "system": run.parent.name, "seed": 1}}


def test_without_it_the_first_of_a_students_teachers_pivots(tmp_path):
    """As after zsnmt direct --language-blocks, also where the runs were moved."""
    made, runs = tmp_path / "made", tmp_path / "runs"
    blocks = make_run(made / "own" / "blocks" / "seed1")
    further = make_run(made / "own" / "blocks_continued" / "seed1", **taught_by(blocks))
    student = make_run(made / "own" / "blocks_direct" / "seed1", synthetic=["de-fr"], **taught_by(further))
    assert {baseline_of(run) for run in (blocks, further, student)} == {blocks}
    made.rename(runs)
    student, moved = (runs / each.relative_to(made) for each in (student, blocks))
    assert baseline_of(student) == moved
    export = student / "ctranslate2-int8"
    export.mkdir()
    (export / "export.json").touch()
    assert baseline_of(export) == moved
    baseline = make_run(runs / "own" / "zs_transformer" / "seed1")
    assert baseline_of(student) == baseline_of(export) == baseline


@pytest.mark.parametrize(
    ("architecture", "learned"),
    [("zs_transformer_residual", {}), ("zs_transformer", {"synthetic": ["de-fr"]})],
)
def test_what_is_no_baseline_does_not_pivot_in_its_place(tmp_path, architecture, learned):
    """A model without the residual, or a student that was adapted: the baseline is asked for."""
    first = make_run(tmp_path / "own" / "first" / "seed1", architecture, **learned)
    student = make_run(tmp_path / "own" / "student" / "seed1", **taught_by(first))
    baseline = tmp_path / "own" / "zs_transformer" / "seed1"
    assert baseline_of(student) == baseline_of(first) == baseline
    for name in ("run.json", "model.pt"):
        (first / name).unlink()
    assert baseline_of(student) == baseline


def test_runs_that_taught_each_other_have_no_first(tmp_path):
    one, other = (tmp_path / "own" / name / "seed1" for name in ("one", "other"))
    make_run(one, synthetic=["de-fr"], **taught_by(other))
    make_run(other, synthetic=["de-fr"], **taught_by(one))
    assert baseline_of(one) == tmp_path / "own" / "zs_transformer" / "seed1"


def test_which_run_pivots_in_its_place_is_said(tmp_path, capsys):
    blocks = make_run(tmp_path / "own" / "blocks" / "seed1")
    student = make_run(tmp_path / "own" / "blocks_direct" / "seed1", **taught_by(blocks))
    assert chosen_pivot(Recipe("evaluate"), student, "baseline") == blocks
    assert f"evaluate: {blocks} translates through the pivot for {student}: " in capsys.readouterr().err
    make_run(tmp_path / "own" / "zs_transformer" / "seed1")
    chosen_pivot(Recipe("evaluate"), student, "baseline")
    assert capsys.readouterr().err == ""
