"""Processes that have fairseq loaded already behave as fresh ones do."""

import os
import signal
import subprocess
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests.conftest import run_command
from tests.support import warm

pytestmark = pytest.mark.slow

STATE = ("sys.argv", "os.getcwd()", "sys.path", "__name__", "os.environ['RUNS']")
MODULES = ("numpy", "torch", "fairseq", "fairseq.models", "zsnmt.models")
LOADED = f"print(*[name in sys.modules for name in {MODULES}])"


@pytest.mark.parametrize(
    "call",
    [
        ["-c", f"import os, sys; print({', '.join(STATE)}, sys.stdin.read())", "a b", "-c"],
        [
            "-c",
            "; ".join(
                (
                    *(f"import {name}; {LOADED}" for name in ("sys", "torch.nn", "fairseq.models", "zsnmt")),
                    "import logging, fairseq.tasks; print(logging.root.level, logging.root.handlers)",
                    "print(torch.get_num_threads())",
                )
            ),
        ],
        ["-c", "import sys; print(1); print('wrong', file=sys.stderr); sys.exit(3)"],
        ["-c", "import sys; sys.exit('wrong')"],
        ["-c", "import wrong"],
        ["-c", "import atexit; atexit.register(print, 'late'); print('early')"],
        ["-c", "import os; os.kill(os.getpid(), 9)"],
        ["-m", "json.tool", "--compact"],
        ["scripts/translate.py", "nowhere", "--to", "de"],
        ["scripts/translate.py", "--help"],
    ],
)
def test_a_call_ends_as_in_a_fresh_process(call):
    def end(fresh: bool) -> tuple[int, str, list[str]]:
        done = run_command("python", *call, runs="here", fresh=fresh, input="[1,   2]")
        said = [line for line in done.stderr.splitlines() if not line.startswith("INFO:fairseq.tasks")]
        return done.returncode, done.stdout, said[-1:]

    assert end(fresh=False) == end(fresh=True)


@pytest.mark.parametrize("random", ["random.random()", "numpy.random.random()", "float(torch.rand(1))"])
def test_copies_have_random_numbers_of_their_own(random):
    code = f"import random, numpy, torch; print({random})"
    assert run_command("python", "-c", code).stdout != run_command("python", "-c", code).stdout


def test_a_process_of_multiprocessing_is_a_copy(monkeypatch):
    warm.spawn_copies(monkeypatch)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        copy = pool.submit(os.getpid).result()
        assert copy not in {os.getpid(), *pool._processes}  # which asked for it
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()


@pytest.mark.parametrize("sent, status", [(signal.SIGINT, 1), (signal.SIGTERM, -15), (signal.SIGKILL, -9)])
def test_a_signal_reaches_it(tmp_path, sent, status):
    code = "import sys, time; print('there', flush=True); time.sleep(60); print('late')"
    command = [warm.environment() / "bin" / "python", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout.readline() == "there\n"
        os.kill(process.pid, sent)
        assert process.stdout.read() == ""  # it ends when the copy has closed it, too
        assert process.wait(30) == status


def test_fairseqs_command_is_that_of_the_environment():
    command = [warm.environment() / "bin" / "fairseq-train", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0 and "usage: fairseq-train" in shown.stdout
