"""Which processes train together, and how they share an update."""

import pytest
import torch

from zsnmt import console
from zsnmt.cli import evaluate
from zsnmt.cli.common.team import TEAM_OPTIONS, add_team, chosen_team
from zsnmt.cli.common.words import remove_options
from zsnmt.console import WrongUse
from zsnmt.errors import InputError
from zsnmt.training.fairseq_train import fairseq_train
from zsnmt.training.steps import Steps
from zsnmt.training.team import Team, shared_updates

LEGACY = ["--ddp-backend", "legacy_ddp"]


@pytest.mark.parametrize(
    "options, size, shared",
    [
        ([], 1, []),
        (["--update-freq", "8"], 8, ["--update-freq", "1", *LEGACY]),
        (["--update-freq=8", "--update-freq", "4"], 2, ["--update-freq", "2", *LEGACY]),
        (["--update-freq", "8,4"], 4, ["--update-freq", "2,1", *LEGACY]),
        (["--update-freq", "2", "--ddp-backend", "c10d"], 2, ["--update-freq", "1"]),
        (["--distributed-world-size", "1", "--update-freq", "2"], 2, ["--update-freq", "1", *LEGACY]),
    ],
)
def test_processes_share_the_batches_of_an_update(options, size, shared):
    assert shared_updates(options, size) == shared


@pytest.mark.parametrize(
    "options, message",
    [
        ([], "2 processes cannot share the batches of an update evenly, of which --update-freq says 1;"),
        (["--update-freq", "4,3"], "--update-freq says 4 and 3; take"),
        (["--update-freq", "2", "--distributed-port", "5"], "leave out --distributed-port: --gpus"),
        (["--update-freq", "2", "--ddp-backend=fully_sharded"], "--ddp-backend fully_sharded does not keep"),
    ],
)
def test_what_cannot_be_shared_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        shared_updates(options, 2)


def test_a_training_that_cannot_be_shared_is_refused_before_anything_is_made(tmp_path):
    steps = Steps("train", team=Team(2, gpus=False))
    with pytest.raises(InputError, match="2 processes cannot share"):
        fairseq_train(steps, tmp_path / "run", "a model", data=tmp_path, options=["--max-epoch", "1"])
    assert not [*tmp_path.iterdir()]


def test_hosts_must_meet():
    with pytest.raises(InputError, match="host 2 is not one of 2"):
        Team(hosts=2, host=2, meet="here:1")
    with pytest.raises(InputError, match="one host meets nobody"):
        Team(meet="here:1")
    with pytest.raises(InputError, match="2 hosts must know where they meet; give --meet"):
        Team(hosts=2)
    for port in (0, 65536, 99999):
        with pytest.raises(InputError, match="a port that is free there, from 1 to 65535"):
            Team(hosts=2, meet=f"here:{port}")


def test_processes_are_counted_over_hosts_and_gpus_on_each():
    team = Team(4, gpus=True, hosts=3, host=1, meet="node-1.cluster:20001")
    assert (team.size, [*team.ranks()], team.address) == (12, [4, 5, 6, 7], ("node-1.cluster", 20001))
    words = team.words(6, "tcp://here:5")
    told = dict(zip(words, words[1:]))
    assert (told["--distributed-rank"], told["--device-id"], told["--distributed-backend"]) == (
        "6",
        "2",
        "nccl",
    )
    assert (told["--distributed-world-size"], told["--distributed-init-method"]) == ("12", "tcp://here:5")


def asked(*words: str) -> Team:
    parser = console.Parser(prog="zsnmt train")
    add_team(parser)
    return chosen_team(parser.parse_args([*words]))


def test_the_command_says_which_processes_train(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert asked() == Team()
    assert asked("--gpus", "all") == Team(4, gpus=True)
    assert asked("--gpus", "1") == Team(1, gpus=True)
    assert asked("--processes", "3").device() == ["--cpu"]
    there = asked("--gpus", "2", "--hosts", "2", "--host", "1", "--meet", "10.0.0.1:20000")
    assert there == Team(2, gpus=True, hosts=2, host=1, meet="10.0.0.1:20000")
    with pytest.raises(InputError, match="this machine has 4 GPUs; give --gpus 4 or fewer"):
        asked("--gpus", "5")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(InputError, match="this machine has no GPU; leave out --gpus, or train in several"):
        asked("--gpus", "all")
    with pytest.raises(InputError, match="no GPU; leave out --gpus, or say by --workers how many batches"):
        evaluate.main(["RUN", "--gpus", "2"])
    with pytest.raises(WrongUse, match="--slurm says what --hosts, --host and --meet say; leave these out"):
        asked("--slurm", "--hosts", "2")


def test_a_record_does_not_say_by_how_many_a_run_was_made():
    words = "--name a --gpus 4 --slurm --host=1 --hosts 2 -- --checkpoint-activations".split()
    assert remove_options(words, TEAM_OPTIONS) == ["--name", "a", "--", "--checkpoint-activations"]
