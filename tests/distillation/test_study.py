"""What speaks against a study before its first training."""

import json
from pathlib import Path

import pytest

from zsnmt.distillation.study import check_place
from zsnmt.errors import InputError
from zsnmt.runs.systems import System
from zsnmt.training.config import Config
from zsnmt.training.experiment import Experiment

TRAINED = System("variant", "zs_transformer", ("--dropout", "0.3"))
STUDENT = System("variant_distilled", "zs_transformer", sides="both", base="variant")


@pytest.mark.parametrize(
    ("system", "command"),
    [
        (TRAINED, "train.sh x.conf zs_transformer --seeds 2 --name variant -- --dropout 0.3"),
        (STUDENT, "distill.sh x.conf {runs}/variant/seed2"),
    ],
    ids=["trained", "student"],
)
def test_a_run_of_another_command_in_the_place_of_one_of_a_study_is_said_at_once(tmp_path, system, command):
    experiment = Experiment(Config(("en", "de"), text="text"), Path("x.conf"), tmp_path)
    check_place(experiment, system, 2)
    run = experiment.run(system.name, 2)
    run.mkdir(parents=True)
    (run / "model.pt").touch()
    record = {"config": "x", "system": system.name, "text": "text", "seed": 2}
    made = f"bash recipes/{command.format(runs=tmp_path)}"
    for further in ("", " --lr 2"):
        (run / "run.json").write_text(json.dumps(record | {"command": made + further}))
        if not further:
            check_place(experiment, system, 2)
    with pytest.raises(InputError, match=f"{system.name}/seed2 is another run, made by .*--lr 2'"):
        check_place(experiment, system, 2)
