"""A run of an experiment whose parts were done before."""

from pathlib import Path

import pytest

from zsnmt.errors import InputError
from zsnmt.runs import checkpoints
from zsnmt.runs.checksums import renew_checksums
from zsnmt.training import train
from zsnmt.training.config import Config
from zsnmt.training.experiment import Experiment
from zsnmt.training.fairseq_train import STEP
from zsnmt.training.steps import Marker, Steps, write_marker


def test_a_model_that_was_damaged_is_not_passed_over_as_done_before(tmp_path, monkeypatch):
    """And made again from the checkpoints where it was removed."""
    run = tmp_path / "system" / "seed1"
    (run / "pipeline").mkdir(parents=True)
    monkeypatch.setattr(
        train, "fairseq_train", lambda _, run, *__, **___: write_marker(run, STEP, Marker("the same", {}))
    )

    def average(steps: Steps, run: Path, number: int) -> None:
        with renew_checksums(model := run / "model.pt"):
            model.write_bytes(b"a model")

    def give_command() -> None:
        experiment = Experiment(Config(("en", "de"), text="text"), Path("x.conf"), tmp_path)
        train.train_and_average(Steps("train"), experiment, run, system="system", seed=1, options=[])

    monkeypatch.setattr(train, "average", average)
    give_command()
    give_command()
    (run / "model.pt").write_bytes(b"a mo")
    with pytest.raises(InputError, match="model.pt is damaged, .* or remove it and give the command"):
        give_command()
    (run / "model.pt").unlink()
    give_command()
    assert (run / "model.pt").read_bytes() == b"a model"


def test_a_mean_of_fewer_checkpoints_than_the_config_asks_for_is_said_to_be_so(tmp_path, monkeypatch, capsys):
    """As where one was damaged, and removed."""
    (tmp_path / "checkpoints").mkdir()
    for loss in ("4.5", "4.75"):
        (tmp_path / "checkpoints" / f"checkpoint.best_nll_loss_{loss}.pt").touch()
    averaged = []
    monkeypatch.setattr(checkpoints, "average_checkpoints", lambda paths, model: averaged.append(len(paths)))
    for number in (2, 3):
        train.average(Steps("train"), tmp_path, number)
    assert averaged == [2, 2]
    said = f"train: AVERAGE asks for the mean of 3 checkpoints, and {tmp_path} has kept 2\n"
    assert capsys.readouterr().err == said
