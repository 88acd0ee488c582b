"""An experiment's folder, and what the names of its systems may be."""

from pathlib import Path

import pytest

from zsnmt.errors import InputError
from zsnmt.training.config import Config
from zsnmt.training.experiment import Experiment

EXPERIMENT = Experiment(Config(("en", "de"), text="text"), Path("x.conf"), Path("runs/x"))


def test_a_run_has_a_folder_by_system_and_seed():
    assert EXPERIMENT.run("it's my name", 3) == Path("runs/x/it's my name/seed3")


@pytest.mark.parametrize("name", ["../../x", "a/b", "/x", "..", ".", "", ".done", "data", "text", "source"])
def test_a_system_is_not_named_as_another_folder_or_one_elsewhere(name):
    with pytest.raises(InputError, match=f"'{name}' cannot name a system"):
        EXPERIMENT.run(name, 1)
