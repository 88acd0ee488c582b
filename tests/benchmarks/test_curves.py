"""Curves of runs by updates."""

import json

import pytest

from zsnmt.benchmarks.curves import curves
from zsnmt.errors import InputError

LOSSES = {("plain", 1): (4.0, 2.0), ("plain", 2): (5.0, 2.5), ("fast", 1): (4.25, 2.25)}


def write_run(folder, system, seed, losses):
    """A run with a loss (bits a token) for each epoch, twice as large in zero-shot directions."""
    checkpoints = folder / f"{system}{seed}" / "checkpoints"
    checkpoints.mkdir(parents=True)
    (checkpoints.parent / "run.json").write_text(
        json.dumps({"config": "c", "system": system, "text": "t", "seed": seed})
    )
    kinds = {"piv-aa": ("supervised", 0.5), "aa-piv": ("supervised", 1.5), "aa-bb": ("zero_shot", 2)}
    for epoch, loss in enumerate(losses, 1):
        directions = {
            direction: {"kind": kind, "nll_loss": loss * by} for direction, (kind, by) in kinds.items()
        }
        with (checkpoints / "validation.jsonl").open("a") as file:
            file.write(
                json.dumps(
                    {"epoch": epoch, "updates": 10 * epoch, "nll_loss": loss, "directions": directions}
                )
                + "\n"
            )
    return checkpoints.parent


def test_seeds_of_a_system_stand_together_and_kinds_apart(tmp_path):
    table = "\n".join(curves([write_run(tmp_path, *run, losses) for run, losses in LOSSES.items()]))
    supervised, zero_shot = table.split("zero-shot")
    assert "| updates | plain, 2 seeds | fast, 1 seed |" in supervised
    assert "| 10 | 4.500 ± 0.707 | 4.250 |" in supervised and "| 20 | 2.250 ± 0.354 | 2.250 |" in supervised
    assert "| 10 | 9.000 ± 1.414 | 8.500 |" in zero_shot


def test_validations_within_an_epoch_have_a_row_each(tmp_path):
    run = write_run(tmp_path, "plain", 1, (4.0, 2.0))
    path = run / "checkpoints" / "validation.jsonl"
    path.write_text(path.read_text().replace('"epoch": 2', '"epoch": 1'))
    table = "\n".join(curves([run]))
    assert "| 10 | 4.000 |" in table and "| 20 | 2.000 |" in table


def test_a_run_without_validations_is_refused(tmp_path):
    runs = [write_run(tmp_path, "plain", seed, (4.0,)) for seed in (1, 2)]
    (runs[0] / "checkpoints" / "validation.jsonl").unlink()
    with pytest.raises(InputError, match="plain1/checkpoints/validation.jsonl, .* is not there or is empty"):
        list(curves(runs))


def test_a_validation_without_a_loss_is_refused(tmp_path):
    run = write_run(tmp_path, "plain", 1, (4.0,))
    path = run / "checkpoints" / "validation.jsonl"
    path.write_text(path.read_text().replace(', "nll_loss": 8.0', ""))
    with pytest.raises(InputError, match="validation.jsonl has no loss of aa-bb after 10 updates"):
        list(curves([run]))


def test_runs_with_other_kinds_of_directions_are_refused(tmp_path):
    runs = [write_run(tmp_path, "plain", seed, (4.0,)) for seed in (1, 2)]
    path = runs[1] / "checkpoints" / "validation.jsonl"
    path.write_text(path.read_text().replace('"zero_shot"', '"supervised"'))
    with pytest.raises(InputError, match="plain2 and .*plain1 were not validated in the same kinds"):
        list(curves(runs))


def test_runs_of_several_configs_are_no_seeds_of_a_system(tmp_path):
    runs = [write_run(tmp_path, "plain", seed, (4.0,)) for seed in (1, 2)]
    record = runs[1] / "run.json"
    record.write_text(record.read_text().replace('"config": "c"', '"config": "d"'))
    with pytest.raises(InputError, match="plain1 and .*plain2 are of the configs c and d; give runs of one"):
        list(curves(runs))


def test_runs_of_other_updates_are_refused(tmp_path):
    runs = [write_run(tmp_path, "plain", 1, (4.0, 2.0)), write_run(tmp_path, "fast", 1, (4.0,))]
    with pytest.raises(
        InputError, match=r"fast1 was validated after the updates \[10\], and .*plain1 after \[10, 20\]"
    ):
        list(curves(runs))
