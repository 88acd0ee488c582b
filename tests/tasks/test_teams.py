"""Several processes that train one model: as one does, and what happens when one of them is killed."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from tests.conftest import ROOT
from tests.support import warm
from tests.tasks.conftest import SUPERVISED, ZERO_SHOT, training_options
from zsnmt.errors import InputError
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.runs.validation import read_validations
from zsnmt.training import fairseq_train, ranks
from zsnmt.training.connections import SILENCE
from zsnmt.training.fairseq_train import train
from zsnmt.training.team import Team

pytestmark = pytest.mark.slow

SECONDS = 600  # until a training counts as stuck
DIRECTIONS = SUPERVISED[:3]  # an epoch of 15 batches, the last update of which has fewer than the others
# Gradient descent of the simplest kind, so that weights differ as gradients do.
OPTIONS = f"""--optimizer sgd --lr 0.02 --clip-norm 0 --batch-size 13 --update-freq 4 --max-epoch 2
    --dropout 0 --attention-dropout 0 --activation-dropout 0 --word-dropout 0 --no-epoch-checkpoints
    --lang-pairs {",".join(DIRECTIONS)} --valid-lang-pairs {",".join([*DIRECTIONS, ZERO_SHOT[0]])}
    --valid-bleu-lines 30 --save-interval-updates 3 --keep-best-checkpoints 1""".split()


class Trained(NamedTuple):
    """A training's folder."""

    folder: Path

    def weights(self) -> dict[str, torch.Tensor]:
        return load_checkpoint(self.folder / "checkpoint_last.pt")["model"]

    def logged(self, name: str) -> list[float]:
        """A figure over time."""
        log = (self.folder / "train.log").read_text()
        return [float(part.partition('"')[0]) for part in log.split(f'"{name}": "')[1:]]


@pytest.fixture(scope="module")
def work(data, tmp_path_factory):
    """Trains with so many processes; `begun` holds those of the last training."""
    begun: list = []

    def start(*arguments, **settings):
        begun.append(context := stock(*arguments, **settings))
        return context

    def in_folder(team: Team, folder: Path | None = None, *further: str) -> Trained:
        begun.clear()
        folder = folder or tmp_path_factory.mktemp(f"team{team.size}")
        stuck = threading.Timer(SECONDS, lambda: [kill(process) for process in processes(begun)])
        stuck.start()
        try:
            train(folder, "a model", training_options(data, folder, *OPTIONS, *further), team=team)
        finally:
            stuck.cancel()
        return Trained(folder)

    stock = ranks.start
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranks, "start", start)
        patch.setattr(fairseq_train, "CHECKPOINTS", ".")
        patch.setattr(fairseq_train, "program", lambda: str(warm.environment() / "bin" / "fairseq-train"))
        yield in_folder, begun


def processes(begun) -> list:
    """The processes of context managers that were entered."""
    frames = [context.gen.gi_frame for context in begun]
    return [frame.f_locals["process"] for frame in frames if frame and "process" in frame.f_locals]


def heeds(process) -> bool:
    """Whether SIGTERM calls a function of it: it has begun its first epoch."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = int(status.partition("SigCgt:")[2].split()[0], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def kill(process) -> None:
    process.send_signal(signal.SIGKILL)


@pytest.fixture(scope="module")
def alone(work) -> Trained:
    train_by, _ = work
    return train_by(Team(gpus=False))


@pytest.fixture(scope="module")
def two(work) -> Trained:
    train_by, _ = work
    return train_by(Team(2, gpus=False))


@pytest.mark.parametrize("size", [2, 4])
def test_several_processes_train_as_one_does(work, alone, two, size, capfd):
    train_by, _ = work
    several = two if size == 2 else train_by(Team(4, gpus=False))
    for name in (
        "loss",
        "nll_loss",
        "num_updates",
        "wpb",
        "bsz",
        "gnorm",
        "valid_loss",
        "valid_nll_loss_velan-tamun",
    ):
        expected = alone.logged(name)
        assert len(expected) > 2 and several.logged(name) == pytest.approx(expected, abs=0.002), name
    same_weights(alone, several)
    by_one, by_all = (run.folder / "validation.jsonl" for run in (alone, several))
    assert by_all.read_text().count("\n") == by_one.read_text().count("\n") > 2, "written by one of them"
    bleu = [
        [figures["bleu"] for entry in entries for figures in entry["directions"].values()]
        for entries in (read_validations(run.folder) for run in (alone, several))
    ]
    assert bleu[0] == bleu[1] and len({*bleu[0]}) > 2, "each translates some of the lines"
    if size == 4:
        told = "a model: 4 processes share each update: --update-freq 1 --ddp-backend legacy_ddp for each\n"
        assert told in capfd.readouterr().err
        assert not [*several.folder.glob("train.process*")]


def test_what_zsnmt_adds_to_training_is_shared_alike(work, tmp_path):
    """A term that draws nothing at random, the chunked loss, faster layers, the fused optimiser."""
    train_by, _ = work
    own = "--criterion zs_cross_entropy --chunked-loss --consistency-weight 0.3 --label-smoothing 0.1".split()
    own += "--fast-training --optimizer fused_adam --max-update 3 --disable-validation".split()
    one, several = (train_by(Team(size, gpus=False), tmp_path / str(size), *own) for size in (1, 2))
    for name in ("loss", "consistency_loss", "gnorm", "wpb"):
        expected = one.logged(name)
        assert len(expected) > 2 and several.logged(name) == pytest.approx(expected, abs=0.002), name


def same_weights(one: Trained, other: Trained) -> None:
    for name, weight in one.weights().items():
        torch.testing.assert_close(other.weights()[name], weight, rtol=0, atol=2e-6)


def test_a_killed_process_ends_all_and_the_same_command_goes_on(work, two, tmp_path):
    train_by, begun = work
    folder, ended = tmp_path / "run", []

    def watch() -> None:
        end = time.monotonic() + SECONDS
        while not (folder / "checkpoint_last.pt").exists() and time.monotonic() < end:
            time.sleep(0.005)
        ended.extend(processes(begun))
        kill(ended[1])
        ended.append(time.monotonic())

    watcher = threading.Thread(target=watch)
    watcher.start()
    with pytest.raises(InputError, match="a model: process 1 of 2 was ended by SIGKILL, as"):
        train_by(Team(2, gpus=False), folder)
    watcher.join()
    assert time.monotonic() - ended.pop() < 15
    assert all(process.returncode is not None for process in ended)

    resumed = train_by(Team(2, gpus=False), folder)
    assert all(torch.equal(weight, two.weights()[name]) for name, weight in resumed.weights().items())


@pytest.mark.parametrize("size", [1, 2])
def test_a_training_that_is_told_to_end_saves_in_the_midst_of_an_epoch(work, alone, two, tmp_path, size):
    """One of the processes is told, and all save after the same update."""
    train_by, begun = work
    log = tmp_path / "train.log"

    def watch() -> None:
        end = time.monotonic() + SECONDS
        while not (len(started := processes(begun)) == size and heeds(started[-1])):
            if time.monotonic() > end:
                return
            time.sleep(0.005)
        started[-1].send_signal(signal.SIGTERM)

    watcher = threading.Thread(target=watch)
    with pytest.MonkeyPatch.context() as patch:  # processes of which the system says whether they heed it
        patch.setattr(fairseq_train, "program", lambda: str(Path(sys.prefix, "bin", "fairseq-train")))
        begun.clear()
        watcher.start()
        with pytest.raises(InputError, match=r"a model: .* was told to end, by SIGTERM; .* the whole log"):
            train_by(Team(size, gpus=False), tmp_path)
    watcher.join()
    saved = log.read_text().rstrip().rpartition("told to end: saved after ")[2]
    checkpoint = load_checkpoint(tmp_path / "checkpoint_last.pt")
    place = checkpoint["extra_state"]["train_iterator"]
    assert saved == f"{checkpoint['optimizer_history'][-1]['num_updates']} updates"
    assert (place["epoch"], place["iterations_in_epoch"]) < (2, 8), "it had not come to its end"

    resumed = train_by(Team(size, gpus=False), tmp_path).weights()
    expected = (two if size == 2 else alone).weights()
    assert all(torch.equal(weight, expected[name]) for name, weight in resumed.items())


def test_another_number_of_processes_goes_on_at_the_same_batch(work, alone, two, tmp_path):
    train_by, _ = work
    shutil.copy(two.folder / "checkpoint_1_3.pt", tmp_path / "checkpoint_last.pt")
    place = load_checkpoint(tmp_path / "checkpoint_last.pt")["extra_state"]["train_iterator"]
    assert place["iterations_in_epoch"] == 6, "of each of two processes"
    same_weights(alone, train_by(Team(gpus=False), tmp_path))


HOST = """
import sys
from zsnmt import console
from zsnmt.cli.common.recipe import Recipe
from zsnmt.training import fairseq_train
from zsnmt.training.team import Team
folder, host, meet, *words = sys.argv[1:]
recipe = Recipe("train", team=Team(1, False, hosts=2, host=int(host), meet=meet))
fairseq_train.CHECKPOINTS = "."
def main():
    if not recipe.join_hosts():
        fairseq_train.train(fairseq_train.Path(folder), "a model", words, team=recipe.steps.team)
console.run(main)
"""


@pytest.fixture
def network():
    """Two network namespaces as two hosts, connected with each other and with nothing else: their names and
    the address of the first.
    """
    names = [f"zsnmt-{os.getpid()}-{number}" for number in range(2)]
    links = [f"zs{os.getpid()}{end}" for end in "ab"]

    def ip(words: str) -> None:
        subprocess.run(["ip", *words.split()], check=True, capture_output=True)

    try:
        for name in names:
            ip(f"netns add {name}")
        ip(f"link add {links[0]} netns {names[0]} type veth peer name {links[1]} netns {names[1]}")
        for number, (name, link) in enumerate(zip(names, links)):
            ip(f"-n {name} addr add 10.213.7.{number + 1}/24 dev {link}")
            for each in (link, "lo"):
                ip(f"-n {name} link set {each} up")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"two hosts are two network namespaces, which this system does not let us make: {error}")
    else:
        yield names, "10.213.7.1"
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


@pytest.fixture
def hosts(data, network, tmp_path):
    """Starts the same training on both hosts, the second first; it writes what it makes into `folder`."""
    (names, address), folder, started = network, tmp_path / "runs" / "run", []
    words = training_options(data, folder, *OPTIONS)
    environment = {**os.environ, "RUNS": str(tmp_path / "runs")}

    def start() -> list[subprocess.Popen]:
        for number, name in reversed([*enumerate(names)]):
            command = ["ip", "netns", "exec", name, str(warm.environment() / "bin" / "python"), "-c", HOST]
            command += [str(folder), str(number), f"{address}:20123", *words]
            started.append(
                subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
            )
        return started[-2:]

    yield start, folder
    for host in started:
        host.kill()


def test_two_hosts_train_as_one_does(alone, hosts, network):
    (_, address), (start, folder) = network, hosts
    both = start()
    said = [host.communicate(timeout=SECONDS)[1] for host in both]
    assert [host.returncode for host in both] == [0, 0], said
    assert said[0].splitlines() == [
        f"train: host 1 of 2: looks for the first at {address}:20123",
        f"train: takes part in {folder}",
        "train: the first host has ended",
    ]
    same_weights(alone, Trained(folder))


def test_a_host_that_is_switched_off_ends_the_other_and_both_go_on_later(alone, hosts, network):
    (names, _), (start, folder) = network, hosts
    lost, first = start()
    end = time.monotonic() + SECONDS
    while not (folder / "checkpoint_last.pt").exists() and time.monotonic() < end:
        time.sleep(0.005)
    link = linked(names[1])
    subprocess.run(["ip", "-n", names[1], "link", "set", link, "down"], check=True)  # so that no one is told
    for process in subprocess.check_output(["ip", "netns", "pids", names[1]], text=True).split():
        os.kill(int(process), signal.SIGKILL)
    lost.wait(timeout=SECONDS)
    gone = time.monotonic()
    said = first.communicate(timeout=SECONDS)[1]
    assert time.monotonic() - gone < 2 * SILENCE
    assert first.returncode != 0
    assert "host 1 (10.213.7.2) has ended, or cannot be reached any more" in said

    subprocess.run(["ip", "-n", names[1], "link", "set", link, "up"], check=True)
    both = start()
    said = [host.communicate(timeout=SECONDS)[1] for host in both]
    assert [host.returncode for host in both] == [0, 0], said
    same_weights(alone, Trained(folder))


def linked(name: str) -> str:
    """The interface of a namespace that leads to the other."""
    shown = subprocess.check_output(["ip", "-n", name, "-br", "link", "show", "type", "veth"], text=True)
    return shown.partition("@")[0]


def test_a_training_that_had_come_to_its_end_is_not_trained_beyond_it(work, tmp_path):
    """As where it was stopped before the note that it is done was written."""
    train_by, _ = work
    ended, again = (train_by(Team(gpus=False), tmp_path, "--max-update", "3").weights() for _ in range(2))
    assert all(torch.equal(weight, ended[name]) for name, weight in again.items())
    assert "the training had come to its end before" in (tmp_path / "train.log").read_text()
