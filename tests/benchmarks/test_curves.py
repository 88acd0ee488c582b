"""Curves of runs by epoch."""

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
    assert "| epoch | plain, 2 seeds | fast, 1 seed |" in supervised
    assert "| 1 | 4.500 ± 0.707 | 4.250 |" in supervised and "| 2 | 2.250 ± 0.354 | 2.250 |" in supervised
    assert "| 1 | 9.000 ± 1.414 | 8.500 |" in zero_shot


def test_runs_of_other_epochs_are_refused(tmp_path):
    runs = [write_run(tmp_path, "plain", 1, (4.0, 2.0)), write_run(tmp_path, "fast", 1, (4.0,))]
    with pytest.raises(
        InputError, match=r"fast1 was validated in the epochs \[1\], and .*plain1 in \[1, 2\]"
    ):
        list(curves(runs))
