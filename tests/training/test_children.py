"""Processes that a command starts: side by side, and none of them outlives it."""

import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from tests.support.waiting import wait_for
from zsnmt.errors import InputError
from zsnmt.processes import HELD, KERNELS, SHARING, kernel_limit, memory
from zsnmt.training import children
from zsnmt.training.children import side_by_side, start


def meet(folder, name: str, other: str) -> None:
    """Ends only if the other job runs at the same time."""
    (folder / name).touch()
    end = time.monotonic() + 30
    while not (folder / other).exists():
        assert time.monotonic() < end
        time.sleep(0.01)


def fail(folder, name: str) -> None:
    (folder / name).touch()
    raise InputError(f"{name} is wrong")


def test_jobs_run_side_by_side(tmp_path):
    assert side_by_side([partial(meet, tmp_path, "a", "b"), partial(meet, tmp_path, "b", "a")], most=2)


@pytest.mark.parametrize("visible, given", [("3,5", "5"), ("3", None), ("", None), (None, "1")])
def test_jobs_have_a_gpu_of_several_in_turn(tmp_path, monkeypatch, visible, given):
    for number in range(2):
        (tmp_path / f"nvidia{number}").touch()
    (tmp_path / "nvidia-uvm").touch()
    monkeypatch.setattr(children, "DEVICES", tmp_path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert children.gpu_of(1).get("CUDA_VISIBLE_DEVICES") == given
    assert children.gpu_of(3) == children.gpu_of(1)


def test_each_job_has_the_lowest_number_that_is_free(tmp_path, monkeypatch):
    monkeypatch.setattr(children, "gpu_of", lambda number: {"NUMBER": str(number)})

    def note(name: str) -> None:
        (tmp_path / name).write_text(os.environ["NUMBER"])

    assert side_by_side([partial(note, name) for name in "ab"], most=1)
    assert [(tmp_path / name).read_text() for name in "ab"] == ["0", "0"]
    assert "NUMBER" not in os.environ


def test_a_job_that_fails_says_why_and_the_others_go_on(tmp_path, capfd):
    assert not side_by_side(
        [partial(fail, tmp_path, "a"), partial(fail, tmp_path, "b"), (tmp_path / "c").touch], most=1
    )
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "c"}
    assert capfd.readouterr().err == "error: a is wrong\nerror: b is wrong\n"


def test_a_job_that_a_signal_ends_is_told_of(capfd):
    assert not side_by_side([os.getpid, lambda: os.kill(os.getpid(), signal.SIGKILL)], most=2)
    killed = (
        "error: a process of this command was ended by SIGKILL, as the system does where memory is short\n"
    )
    assert capfd.readouterr().err == killed


def test_a_process_that_does_not_end_when_told_to_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(children, "SAVING", 0.1)
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    with (tmp_path / "output").open("w+b") as output:
        with start([sys.executable, "-c", deaf], output) as process:
            wait_for((tmp_path / "output").read_text, process=process)
    assert process.returncode == -signal.SIGKILL


PARENT = """
import sys, time
from functools import partial
from pathlib import Path
from zsnmt.processes import memory
from zsnmt.training.children import side_by_side, start
script = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"

def job(path):
    with open(path + ".log", "wb") as log, start([sys.executable, "-c", script, path], log) as process:
        process.wait()

side_by_side([partial(job, sys.argv[1] + name) for name in "ab"], 2)
"""


@pytest.mark.parametrize(
    "sent, status", [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 1)]
)
def test_jobs_and_what_they_started_end_with_the_command(tmp_path, sent, status):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, f"{tmp_path}/"], stderr=subprocess.DEVNULL)
    files = [tmp_path / name for name in "ab"]
    end = time.monotonic() + 60
    while not all(file.is_file() and file.read_text() for file in files):
        assert time.monotonic() < end and parent.poll() is None
        time.sleep(0.05)
    started_by_jobs = [int(file.read_text()) for file in files]
    parent.send_signal(sent)
    assert parent.wait(timeout=30) in (status, -sent)
    while any(lives(number) for number in started_by_jobs):
        assert time.monotonic() < end + 30
        time.sleep(0.05)


ENDING = """
import sys
from functools import partial
from zsnmt.console import run
from zsnmt.training.children import side_by_side, start
script = '''
import pathlib, signal, sys, time
told = []
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda *_: told.append(1))
pathlib.Path(sys.argv[1] + ".begun").touch()
while not told:
    time.sleep(0.01)
time.sleep(1)
pathlib.Path(sys.argv[1] + ".saved").touch()
'''

def job(path):
    with open(path + ".log", "wb") as log, start([sys.executable, "-c", script, path], log) as process:
        process.wait()

run(lambda: side_by_side([partial(job, sys.argv[1] + name) for name in "ab"], 2))
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_jobs_save_before_they_end_whoever_else_is_told(tmp_path, sent):
    """As by Ctrl-C, by a cluster, and twice by a terminal that is closed."""
    parent = subprocess.Popen([sys.executable, "-c", ENDING, f"{tmp_path}/"], start_new_session=True)
    end = time.monotonic() + 60
    while len([*tmp_path.glob("*.begun")]) < 2:
        assert time.monotonic() < end and parent.poll() is None
        time.sleep(0.05)
    os.killpg(parent.pid, sent)
    if sent == signal.SIGHUP:
        os.killpg(parent.pid, sent)
    assert parent.wait(timeout=30) == 128 + sent
    assert len([*tmp_path.glob("*.saved")]) == 2


SLOWLY = """
import subprocess, time
stock = subprocess.Popen.__init__

def slowly(self, *given, **named):
    stock(self, *given, **named)
    time.sleep(1)

subprocess.Popen.__init__ = slowly
"""


def test_a_job_that_is_told_while_it_notes_its_process_lets_that_save(tmp_path):
    command = [sys.executable, "-c", SLOWLY + ENDING, f"{tmp_path}/"]
    parent = subprocess.Popen(command, start_new_session=True)
    end = time.monotonic() + 60
    while len([*tmp_path.glob("*.begun")]) < 2:
        assert time.monotonic() < end and parent.poll() is None
        time.sleep(0.01)
    os.killpg(parent.pid, signal.SIGHUP)
    os.killpg(parent.pid, signal.SIGHUP)
    assert parent.wait(timeout=30) == 128 + signal.SIGHUP
    assert len([*tmp_path.glob("*.saved")]) == 2


STARTING = """
import os, signal, sys, time
from multiprocessing.context import ForkProcess
from zsnmt.console import run
from zsnmt.training.children import side_by_side
stock, main = ForkProcess.start, os.getpid()

def start(self):
    stock(self)
    os.kill(main, signal.SIGTERM)
    if sys.argv[1] == "both":
        os.kill(self.pid, signal.SIGTERM)

ForkProcess.start = start
run(lambda: side_by_side([lambda: time.sleep(600)] * 2, 2))
"""


@pytest.mark.parametrize("told", ["one", "both"])
def test_a_signal_ends_a_job_that_is_just_being_started(told):
    done = subprocess.run([sys.executable, "-c", STARTING, told], capture_output=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, b"", b"")


def lives(number: int) -> bool:
    try:
        with open(f"/proc/{number}/stat") as file:
            return (
                file.read().rpartition(")")[2].split()[0] != "Z"
            )  # killed, and not waited for by whoever adopted it
    except FileNotFoundError:
        return False


def test_a_process_that_is_left_is_ended(tmp_path):
    log = tmp_path / "log"
    script = "print('begun', flush=True); import time; time.sleep(600)"
    with log.open("wb") as file, start([sys.executable, "-c", script], file) as process:
        end = time.monotonic() + 30
        while log.read_bytes() != b"begun\n":
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.01)
        assert os.environ.get("OMP_NUM_THREADS")
    assert process.returncode == -signal.SIGTERM


def test_a_process_has_the_settings_that_a_person_has_not_set(tmp_path, monkeypatch):
    monkeypatch.setenv("MALLOC_TOP_PAD_", "4096")
    for name in (KERNELS, HELD, SHARING):
        monkeypatch.delenv(name, raising=False)
    with (tmp_path / "log").open("wb") as file, start(["env"], file) as process:
        process.wait()
    found = dict(line.split("=", 1) for line in (tmp_path / "log").read_text().splitlines() if "=" in line)
    assert found["MALLOC_TOP_PAD_"] == "4096"
    assert found[KERNELS] == str(kernel_limit(memory()))


COMMAND = """
import os, sys
from functools import partial
from pathlib import Path
from zsnmt.cli.common.recipe import Recipe
from zsnmt.processes import KERNELS
from zsnmt.training.children import side_by_side
from zsnmt.training.ranks import Work, start_ranks
from zsnmt.training.team import Team

def train(folder):
    work = Work(folder, ["sh", "-c", "env"], "")
    with (folder / "log").open("wb") as log, start_ranks(work, Team(2, False), [], log) as ranks:
        for process in ranks.processes.values():
            process.wait()

Recipe("train")
print(os.environ[KERNELS])
folders = [Path(folder) for folder in sys.argv[1:]]
jobs = [partial(train, folder) for folder in folders]
side_by_side(jobs, len(jobs)) if jobs[1:] else jobs[0]()
"""


@pytest.mark.parametrize("given", [None, "77"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_all_trainings_together_keep_the_kernels_that_one_would_unless_a_person_says_how_many(
    tmp_path, jobs, given
):
    """Two processes train each of one or two models at a time."""
    folders = [tmp_path / str(number) for number in range(jobs)]
    for folder in folders:
        folder.mkdir()
    environment = {name: value for name, value in os.environ.items() if name not in (KERNELS, HELD, SHARING)}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *folders],
        env=environment | ({KERNELS: given} if given else {}),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout.split()[0] == (given or str(kernel_limit(memory())))
    for log in (file for folder in folders for file in folder.iterdir()):
        assert f"{KERNELS}={given or kernel_limit(memory(), 2 * jobs)}\n" in log.read_text()


def test_a_process_checks_its_assertions_whatever_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    with (tmp_path / "log").open("wb") as file:
        with start([sys.executable, "-c", "assert False, 'checked'"], file) as process:
            process.wait()
    assert b"AssertionError: checked" in (tmp_path / "log").read_bytes()
