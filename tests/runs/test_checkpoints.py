"""Averaging of checkpoints, and what happens to damaged ones."""

import argparse
import errno
import os

import pytest
import torch

from tests.support.disk import full_after
from tests.support.rounding import assert_rounded
from zsnmt.errors import InputError
from zsnmt.runs.checkpoints import (
    average_checkpoints,
    best_checkpoints,
    is_whole,
    load_checkpoint,
    replace_damaged_last,
)


def save(path, seed: int, size: int = 3):
    torch.manual_seed(seed)
    model = {"weight": torch.randn(size, 2), "half": torch.randn(4).half(), "count": torch.tensor([seed])}
    torch.save(
        {"model": model, "cfg": argparse.Namespace(seed=seed), "last_optimizer_state": {"big": 1}}, path
    )
    return model


def test_the_average_is_the_mean_and_keeps_types_and_options(tmp_path):
    paths = [tmp_path / f"{seed}.pt" for seed in (1, 2, 6)]
    models = [save(path, int(path.stem)) for path in paths]
    average_checkpoints(paths, tmp_path / "model.pt")
    average = load_checkpoint(tmp_path / "model.pt")
    for name in models[0]:
        expected = sum(model[name].double() for model in models) / 3
        assert average["model"][name].dtype == models[0][name].dtype
        if models[0][name].is_floating_point():
            assert_rounded(average["model"][name], expected, 1, expected.abs())
        else:
            assert torch.equal(average["model"][name].double(), expected)
    assert average["cfg"].seed == 1 and average["last_optimizer_state"] is None
    assert average["averaged"] == ["1.pt", "2.pt", "6.pt"]


def test_the_average_is_that_of_exact_sums(tmp_path):
    """In float32, 2**24 + 1 is 2**24."""
    paths = [tmp_path / f"{place}.pt" for place in range(3)]
    for path, weight in zip(paths, (2.0**24, 1.0, 1.0)):
        torch.save({"model": {"weight": torch.tensor([weight])}}, path)
    average_checkpoints(paths, tmp_path / "model.pt")
    expected = torch.tensor([2**24, 1, 1], dtype=torch.float64).mean().float()
    assert load_checkpoint(tmp_path / "model.pt")["model"]["weight"] == expected


def test_of_a_residual_that_comes_back_the_mean_is_of_those_that_have_it(tmp_path, caplog):
    """The others are of another model, and half a residual is of none."""
    weights = {"first": (0.0, 2.0), "second": (1.0, 4.0), "third": (0.0, 100.0), "fourth": (1.0, 6.0)}
    paths = [tmp_path / f"{name}.pt" for name in weights]
    for path, (back, weight) in zip(paths, weights.values()):
        model = {"weight": torch.tensor([weight]), "layers.2.attention_residual.back": torch.tensor([back])}
        torch.save({"model": model}, path)
    average_checkpoints(paths, tmp_path / "model.pt")
    average = load_checkpoint(tmp_path / "model.pt")
    assert average["averaged"] == ["second.pt", "fourth.pt"]
    assert {name: value.item() for name, value in average["model"].items()} == {
        "weight": 5.0,
        "layers.2.attention_residual.back": 1.0,
    }
    assert "2 of a time before a residual came back are left out" in caplog.text


def test_the_average_of_one_is_itself(tmp_path):
    model = save(tmp_path / "1.pt", 1)
    average_checkpoints([tmp_path / "1.pt"], tmp_path / "model.pt")
    average = load_checkpoint(tmp_path / "model.pt")["model"]
    assert all(torch.equal(average[name], model[name]) for name in model)


def test_the_best_are_those_with_the_lowest_loss(tmp_path):
    names = [
        "checkpoint.best_nll_loss_10.5001.pt",
        "checkpoint.best_nll_loss_9.7002.pt",
        "checkpoint.best_nll_loss_9.8000.pt",
        "checkpoint_best.pt",
        "checkpoint_last.pt",
    ]
    for name in names:
        (tmp_path / name).touch()
    assert [path.name for path in best_checkpoints(tmp_path, 2)] == [names[1], names[2]]
    assert len(best_checkpoints(tmp_path, 9)) == 3
    with pytest.raises(InputError, match="the run has kept none, or no validation came before the end"):
        best_checkpoints(tmp_path / "none", 2)


def test_different_models_are_refused(tmp_path):
    save(tmp_path / "1.pt", 1)
    save(tmp_path / "2.pt", 2, size=4)
    with pytest.raises(InputError, match="different models"):
        average_checkpoints([tmp_path / "1.pt", tmp_path / "2.pt"], tmp_path / "model.pt")
    assert not (tmp_path / "model.pt").exists()


@pytest.mark.parametrize("room", [1000, 100_000])
def test_a_full_disk_is_an_error_that_names_the_output_and_leaves_the_old_one(tmp_path, room):
    path, output = tmp_path / "1.pt", tmp_path / "model.pt"
    save(path, 1, size=99_999)  # more than Python keeps before it writes
    output.write_bytes(b"old")
    with pytest.raises(OSError) as error, full_after(room):
        average_checkpoints([path], output)
    assert (error.value.errno, error.value.filename) == (errno.EFBIG, str(output))
    assert output.read_bytes() == b"old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["1.pt", "model.pt"]


class Malicious:
    def __reduce__(self):
        return os.mkdir, (os.environ["ZSNMT_TEST_TRAP"],)


@pytest.mark.parametrize("damage", ["truncated", "empty", "text", "code", "missing"])
def test_a_damaged_or_dangerous_checkpoint_is_refused_in_one_sentence(tmp_path, monkeypatch, damage):
    path, trap = tmp_path / "checkpoint.pt", tmp_path / "trap"
    monkeypatch.setenv("ZSNMT_TEST_TRAP", str(trap))
    save(path, 1)
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-200])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "text":
        path.write_text("no checkpoint")
    elif damage == "code":
        torch.save({"model": Malicious()}, path)
    else:
        path.unlink()
    with pytest.raises(InputError, match="checkpoint.pt (cannot be loaded|is missing)") as caught:
        load_checkpoint(path)
    assert "\n" not in str(caught.value) and not trap.exists()


# A damaged checkpoint to go on from


def flip(path) -> None:
    """Change a byte in the middle of a weight, which PyTorch does not notice."""
    content = bytearray(path.read_bytes())
    content[content.index(torch.ones(64).numpy().tobytes()) + 100] ^= 1
    path.write_bytes(content)


def cut(path) -> None:
    path.write_bytes(path.read_bytes()[:-300])


@pytest.fixture
def training(tmp_path):
    """The checkpoints of a training by the updates after which they were made."""
    for name, updates in (
        ("checkpoint.best_nll_loss_5.1.pt", 90),
        ("checkpoint_best.pt", 120),
        ("checkpoint.best_nll_loss_5.3.pt", 30),
        ("checkpoint_last.pt", 150),
    ):
        history = [{"num_updates": 1}, {"num_updates": updates}]
        torch.save({"model": {"weight": torch.ones(64)}, "optimizer_history": history}, tmp_path / name)
    return tmp_path


def updates_of_last(folder) -> int:
    return load_checkpoint(folder / "checkpoint_last.pt")["optimizer_history"][-1]["num_updates"]


@pytest.mark.parametrize(
    "damage", [flip, cut, lambda path: path.write_bytes(b""), lambda path: path.write_text("x")]
)
def test_training_goes_on_from_the_newest_whole_checkpoint(training, damage):
    damage(training / "checkpoint_last.pt")
    assert replace_damaged_last(training) == (
        f"{training / 'checkpoint_last.pt'} is damaged; training goes on from checkpoint_best.pt, after 120 "
        "updates, and what came later is trained again"
    )
    assert updates_of_last(training) == 120
    assert replace_damaged_last(training) == ""
    for name in ("checkpoint_last.pt", "checkpoint_best.pt"):
        damage(training / name)
    assert "from checkpoint.best_nll_loss_5.1.pt, after 90 updates" in replace_damaged_last(training)


def test_a_whole_last_checkpoint_stays_as_it_is_and_a_training_may_begin(training):
    cut(training / "checkpoint_best.pt")
    assert replace_damaged_last(training) == "" and updates_of_last(training) == 150
    assert replace_damaged_last(training / "none") == ""


def test_a_first_save_that_was_not_done_with_is_gone_on_from(training):
    """fairseq saves the best checkpoint first, and copies it to the last one's place."""
    (training / "checkpoint_last.pt").unlink()
    assert "is not there; training goes on from checkpoint_best.pt" in replace_damaged_last(training)
    assert updates_of_last(training) == 120
    for path in training.iterdir():
        cut(path) if path.name == "checkpoint_best.pt" else path.unlink()
    assert replace_damaged_last(training) == "" and not (training / "checkpoint_last.pt").exists()


def test_without_a_whole_checkpoint_nothing_is_removed_unasked(training):
    for path in training.iterdir():
        cut(path)
    message = (
        f"checkpoint_last.pt is damaged, and there is no other whole checkpoint; remove {training} to train"
    )
    with pytest.raises(InputError, match=message):
        replace_damaged_last(training)
    assert len([*training.iterdir()]) == 4


def test_a_checkpoint_of_the_former_format_is_whole_where_it_can_be_loaded(tmp_path):
    path = tmp_path / "checkpoint_last.pt"
    torch.save({"model": {"weight": torch.ones(64)}}, path, _use_new_zipfile_serialization=False)
    assert is_whole(path)
    cut(path)
    assert not is_whole(path)
