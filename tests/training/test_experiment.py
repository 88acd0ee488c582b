"""An experiment's folder, and what the names of its systems may be."""

from pathlib import Path

import pytest

from zsnmt.errors import InputError
from zsnmt.training.config import Config
from zsnmt.training.experiment import Experiment

EXPERIMENT = Experiment(Config(("en", "de"), text="text"), Path("x.conf"), Path("runs/x"))


def test_a_run_has_a_folder_by_system_and_seed():
    assert EXPERIMENT.run("it's my name", 3) == Path("runs/x/it's my name/seed3")


@pytest.mark.parametrize(
    "name", ["../../x", "a/b", "a\nb", "/x", "..", ".", "", ".done", "data", "text", "source"]
)
def test_a_system_is_not_named_as_another_folder_or_one_elsewhere(name):
    with pytest.raises(InputError, match=f"'{name}' cannot name a system"):
        EXPERIMENT.run(name, 1)


@pytest.mark.parametrize("folder, system", [("runs/x", "lr:0.1"), ("runs/my:x", "x"), ("a:b/x", "x")])
def test_a_run_that_fairseq_could_not_open_is_refused_before_it_is_trained(folder, system):
    with pytest.raises(InputError, match=f"{folder}/{system}/seed1 cannot be the folder of a run, for to f"):
        Experiment(EXPERIMENT.config, EXPERIMENT.file, Path(folder)).run(system, 1)
