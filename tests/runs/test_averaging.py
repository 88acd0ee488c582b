"""Another mean of a run's checkpoints, as a run of its own."""

import json

import pytest
import torch

from zsnmt.cli import average, translate
from zsnmt.errors import InputError
from zsnmt.files.locks import Busy, locked
from zsnmt.runs.averaging import average_again
from zsnmt.runs.checkpoints import best_checkpoints, load_checkpoint
from zsnmt.runs.checksums import check_model, check_pipeline
from zsnmt.runs.folder import SHARED

pytestmark = pytest.mark.slow


def test_it_is_the_mean_of_so_many_and_a_run_of_its_own(own_tiny, capsys):
    run = own_tiny.run()
    (run / "confidence.json").write_text("{}")  # of its model
    (run / "before").mkdir()
    (run / "before" / "hypotheses").write_text("of the run that it went on from")
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    best = best_checkpoints(run / "checkpoints", 2)
    assert len(best) == 2
    average.main([str(run), "--number", "1"])
    average.main([str(run), "--number", "2", "--name", "two"])
    one, two = map(own_tiny.run, ("zs_transformer_residual_mean_of_1", "two"))
    assert capsys.readouterr().out.split() == [str(one), str(two)]
    for made, averaged in ((one, best[:1]), (two, best)):
        models = [load_checkpoint(path)["model"] for path in averaged]
        for name, weight in load_checkpoint(made / "model.pt")["model"].items():
            mean = sum(model[name].double() for model in models) / len(models)
            assert torch.equal(weight, mean.to(weight.dtype))
        with check_model(made):
            check_pipeline(made)
    record, new = (json.loads((each / "run.json").read_text()) for each in (run, two))
    assert new == record | {
        "system": "two",
        "command": f"zsnmt average {run} --number 2 --name two",
        "checkpoints_averaged": 2,
    }
    for name in ("train.log", "train.command", "config.conf", "checkpoints/validation.jsonl"):
        assert (two / name).read_bytes() == (run / name).read_bytes()
    assert not any((two / name).exists() for name in ("scores.json", "hypotheses", "confidence.json"))
    assert (two / "before" / "hypotheses").read_text() == (run / "before" / "hypotheses").read_text()
    assert before == {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


def test_it_translates(own_tiny, tmp_path, capsys):
    made = average_again(own_tiny.run(), 1)
    text = tmp_path / "text"
    text.write_text((own_tiny.folder / "text" / "test.velan").read_text().splitlines()[0] + "\n")
    translate.main([str(made), "--from", "velan", "--to", "inglan", "--input", str(text)])
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_run_in_which_another_process_is_at_work_is_refused(own_tiny):
    before = {*own_tiny.folder.rglob("*")}
    with locked(own_tiny.run()), pytest.raises(Busy, match="another process is at work in"):
        average_again(own_tiny.run(), 1)
    assert {*own_tiny.folder.rglob("*")} == before


@pytest.mark.parametrize(
    ("number", "name", "message"),
    [
        (9, None, r"has \d of the best checkpoints, and not 9; give a --number of \d or less"),
        (
            1,
            "zs_transformer_residual",
            "seed1 is there already; remove it or give another name by --name",
        ),
        (1, "a/b", "'a/b' cannot name a system"),
        *((1, name, f"'{name}' cannot name a system") for name in SHARED),
        (1, "a:b", "a:b/seed1 cannot be the folder of a run"),
    ],
)
def test_what_cannot_be_made_is_refused_and_nothing_is_left(own_tiny, number, name, message):
    before = {*own_tiny.folder.rglob("*")}
    with pytest.raises(InputError, match=message):
        average_again(own_tiny.run(), number, name)
    assert {*own_tiny.folder.rglob("*")} == before
