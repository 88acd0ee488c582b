"""Lines through several processes: the same as through one, in order, and no process is left behind."""

import gc
import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.waiting import wait_for
from zsnmt import control_groups
from zsnmt.errors import InputError
from zsnmt.processes import (
    HELD,
    KERNEL,
    KERNELS,
    SHARING,
    cores,
    in_another_process,
    kernel_limit,
    map_in_processes,
    memory,
    share_kernels,
    worker_pool,
)
from zsnmt.text.tokenisation import load_tokeniser

LINES = [f"Line no. {number}, isn't it?" for number in range(2345)]


def refuse(line: str) -> str:
    raise InputError(f"{line} cannot be used")


def end(line: str) -> str:
    os._exit(3)


def of_process(line: str) -> str:
    return f"{os.getpid()} {line}"


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_lines_are_those_of_a_plain_loop(workers):
    tokenise = load_tokeniser("moses", "en").tokenise
    assert list(map_in_processes(tokenise, iter(LINES), workers)) == [tokenise(line) for line in LINES]
    assert list(map_in_processes(tokenise, [], workers)) == []


def test_other_processes_do_the_work():
    processes, lines = zip(*(line.split(" ", 1) for line in map_in_processes(of_process, LINES, 2)))
    assert list(lines) == LINES
    assert str(os.getpid()) not in processes and len(set(processes)) <= 2


def test_few_lines_need_no_other_process():
    for lines, alone in ((LINES[:7], True), (LINES[:8], False)):
        processes = {line.split(" ")[0] for line in map_in_processes(of_process, lines, 2, together=7)}
        assert (processes == {str(os.getpid())}) == alone


def test_no_process_is_refused_whatever_there_is_to_do():
    with pytest.raises(InputError, match="0 processes cannot work; give one or more"):
        list(map_in_processes(str.upper, LINES[:7], 0))


def sleep_and_write(folder: str) -> None:
    Path(folder, "begun").touch()
    time.sleep(30)
    Path(folder, "done").touch()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_does_not_wait_for_what_processes_have_begun(number, tmp_path):
    script = (
        "from zsnmt.console import run\n"
        "from tests.test_processes import sleep_and_write\n"
        "from zsnmt.processes import map_in_processes\n"
        f"run(lambda: [*map_in_processes(sleep_and_write, [{str(tmp_path)!r}] * 4, 2, together=1)])"
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    wait_for((tmp_path / "begun").exists, process=process)
    started = time.monotonic()
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert time.monotonic() - started < 15 and process.returncode != 0 and "Traceback" not in said
    assert not (tmp_path / "done").exists()


# What each does when a signal comes: a process has just been started, is in the midst of sending what it has
# done, and takes long to end.
MOMENTS = {
    "starting": """
stock = Process.start
def start(self):
    stock(self)
    signal.raise_signal(signal.SIGTERM)
Process.start = start
run(lambda: [*map_in_processes(str, range(4), 2, together=1)])
""",
    "sending": """
main, stock = os.getpid(), Connection._send
def send(self, message, *rest):
    if os.getpid() == main or len(message) < 10 ** 6:
        return stock(self, message, *rest)
    stock(self, message[:1000], *rest)
    os.kill(main, signal.SIGTERM)
    time.sleep(60)
Connection._send = send
run(lambda: [*map_in_processes(lambda item: "a" * 10 ** 6, range(4), 2, together=1)])
""",
    "ending": """
main = os.getpid()
def work(item):
    Finalize(None, lambda: (os.kill(main, signal.SIGTERM), time.sleep(60)), exitpriority=1)  # each of them
run(lambda: [*map_in_processes(work, range(4), 2, together=1)])
""",
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_ends_the_processes_whenever_it_comes(moment):
    imports = (
        "import os, signal, time\n"
        "from multiprocessing.connection import Connection\n"
        "from multiprocessing.context import ForkProcess as Process\n"
        "from multiprocessing.util import Finalize\n"
        "from zsnmt.console import run\n"
        "from zsnmt.processes import map_in_processes\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", imports + MOMENTS[moment]], cwd=ROOT, capture_output=True, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, b"", b"")


def test_few_lines_are_read_ahead():
    read = count()
    results = map_in_processes(str.upper, (f"{next(read)}" for _ in range(1_000_000)), 2)
    assert next(results) == "0"
    results.close()
    assert next(read) < 5000


@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_function_raises_is_raised(workers):
    with pytest.raises(InputError, match="Line no. 0, isn't it\\? cannot be used"):
        list(map_in_processes(refuse, LINES, workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_lines_raise_is_raised(workers):
    def lines():
        yield from LINES
        raise InputError("line 2346")

    with pytest.raises(InputError, match="line 2346"):
        list(map_in_processes(str.upper, lines(), workers))


def test_the_end_of_a_process_is_an_error():
    with pytest.raises(BrokenProcessPool):
        list(map_in_processes(end, LINES, 2))


def test_workers_end_with_a_main_process_that_is_killed():
    code = """
import itertools, os
from zsnmt.processes import map_in_processes
seen = set()
for process in map_in_processes(lambda line: str(os.getpid()), itertools.repeat("x"), 2):
    if process not in seen:
        seen.add(process)
        print(process, flush=True)
"""
    main = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    workers = [int(main.stdout.readline()) for _ in range(2)]
    main.kill()
    main.communicate()
    assert all_end(workers)


def test_idle_workers_end_with_a_main_process_that_is_killed():
    """They have inherited the locks of the main process, for which its next try would wait."""
    code = """
import time
from zsnmt.processes import worker_pool
with worker_pool(2) as pool:
    pool.submit(int).result()
    print(*pool._processes, flush=True)
    time.sleep(60)
"""
    main = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    workers = [*map(int, main.stdout.readline().split())]
    assert len(workers) == 2 and all(map(is_running, workers))
    main.kill()
    main.communicate()
    assert all_end(workers)


def test_an_exception_does_not_wait_for_work_that_has_begun():
    start = time.monotonic()
    with pytest.raises(InputError, match="enough"):
        with worker_pool(2) as pool:
            for _ in range(4):
                pool.submit(time.sleep, 60)
            raise InputError("enough")
    assert time.monotonic() - start < 30


def test_another_process_returns_what_a_function_makes_and_raises_what_it_raises():
    here = os.getpid()
    assert in_another_process(lambda: (os.getpid() != here, [1])) == (True, [1])
    with pytest.raises(RuntimeError, match="as it is"):
        in_another_process(partial(raising, RuntimeError("as it is")))


def raising(error: Exception) -> None:
    raise error


class Noted:
    """Part of a cycle, which only the garbage collector ends; a file says in which process that was."""

    def __init__(self, file: Path) -> None:
        self.file, self.itself = file, self

    def __del__(self) -> None:
        self.file.write_text(str(os.getpid()))


def test_another_process_leaves_alone_what_only_this_one_can_end(tmp_path):
    """Such as CTranslate2's translators, whose threads it does not have: it would wait for them for ever."""
    file = tmp_path / "ended in"
    gc.disable()
    try:
        Noted(file)
        in_another_process(gc.collect)
        assert not file.exists()
        gc.collect()
    finally:
        gc.enable()
    assert file.read_text() == str(os.getpid())


def test_no_workers_are_refused():
    with pytest.raises(InputError, match="0 processes cannot work; give one or more"):
        worker_pool(0)


def all_end(processes: list[int]) -> bool:
    """Whether all these processes end within ten seconds."""
    deadline = time.monotonic() + 10
    while any(map(is_running, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_running, processes))


def is_running(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_cores_are_those_that_a_process_may_use():
    script = (
        "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]);"
        "from zsnmt.processes import cores; print(cores())"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr
    assert cores() == len(os.sched_getaffinity(0))


PHYSICAL = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
STEP, JOB = "system.slice/job_7/step_0", "system.slice/job_7"


@pytest.mark.parametrize(
    "groups, files, bytes_of_memory, limit_of_cores",
    [
        ("0::/\n", {}, PHYSICAL, math.inf),
        ("0::/\n", {"memory.max": "max\n", "cpu.max": "max 100000\n"}, PHYSICAL, math.inf),
        ("0::/\n", {"memory.max": "1000000\n", "cpu.max": "150000 100000\n"}, 1000000, 1.5),
        (
            f"0::/{STEP}\n",  # the job has less than its step
            {f"{STEP}/memory.max": "2000000\n", f"{JOB}/memory.max": "1000000\n", f"{JOB}/cpu.max": "4 2\n"},
            *(1000000, 2.0),
        ),
        (
            f"4:memory:/{JOB}\n2:cpuacct,cpu:/{JOB}\n0::/\n",
            {
                f"memory/{JOB}/memory.limit_in_bytes": "3000000\n",
                f"cpu/{JOB}/cpu.cfs_quota_us": "50000\n",
                f"cpu/{JOB}/cpu.cfs_period_us": "100000\n",
                "cpu/cpu.cfs_quota_us": "-1\n",
                "cpu/cpu.cfs_period_us": "100000\n",
            },
            *(3000000, 0.5),
        ),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": f"{2**63 - 4096}\n"}, PHYSICAL, math.inf),
        ("of another form\n", {"memory.max": "1000000\n"}, PHYSICAL, math.inf),
        (None, {"memory.max": "1000000\n"}, PHYSICAL, math.inf),
    ],
)
def test_the_limits_of_a_container_or_of_a_clusters_job_hold(
    groups, files, bytes_of_memory, limit_of_cores, tmp_path, monkeypatch
):
    for name, content in files.items():
        path = tmp_path / "mounted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    if groups:
        (tmp_path / "groups").write_text(groups)
    monkeypatch.setattr(control_groups, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(control_groups, "MOUNTED", tmp_path / "mounted")
    assert memory() == bytes_of_memory
    assert control_groups.cores_limit() == limit_of_cores
    there = len(os.sched_getaffinity(0))
    assert cores() == (there if limit_of_cores == math.inf else min(there, math.ceil(limit_of_cores)))


def test_a_machine_that_does_not_tell_its_cores_has_one(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


@pytest.mark.parametrize("gigabytes, kept", [(0.1, 128), (1, 191), (8, 1533), (24, 4601), (512, 16384)])
def test_kernels_are_kept_for_an_eighth_of_the_memory_within_bounds(gigabytes, kept):
    size = int(gigabytes * 2**30)
    assert kernel_limit(size) == kept
    assert kept in (128, 16384) or kept * KERNEL <= size / 8
    assert kernel_limit(4 * size, processes=4) == kept


def bounds(processes: int) -> dict[str, str]:
    """Of each of so many processes."""
    limit = kernel_limit(memory(), processes)
    return {KERNELS: str(limit), HELD: str(min(limit, 1024))}


def test_processes_that_share_work_are_counted_once_and_those_of_several_jobs_all():
    environment: dict[str, str] = {}
    for _ in range(2):  # a command, and each of the three workers that it starts
        share_kernels(environment, workers=3)
        assert environment == {SHARING: "1", **bounds(3)}
    share_kernels(environment, 2)  # jobs
    share_kernels(environment, workers=30)
    assert environment == {SHARING: "2", **bounds(60)}


@pytest.mark.parametrize("name", [KERNELS, HELD])
def test_a_persons_own_bound_of_kernels_is_kept(name):
    environment = {name: "77"}
    share_kernels(environment, 2, workers=3)
    assert environment == {name: "77"}


PRODUCTS = """
import os, sys
import torch
from zsnmt.processes import KERNELS, HELD
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
os.environ |= dict.fromkeys((KERNELS, HELD), sys.argv[1])
torch.set_num_threads(1)
multiply = torch.ops.mkldnn._linear_pointwise
weight, x = torch.ones(64, 64), torch.ones(700, 64)

def memory():
    with open("/proc/self/status") as file:
        return int(file.read().split("VmRSS:")[1].split()[0])

begin = 0
for rows in range(700, 100, -1):
    multiply(x[:rows], weight, None, "none", [], "")
    begin = begin or memory()
print(memory() - begin)
"""


@pytest.mark.slow
def test_a_bound_that_a_process_sets_before_its_first_product_bounds_its_memory():
    """That of 600 kernels (kB)."""
    few, all_of_them = (
        int(subprocess.run([sys.executable, "-c", PRODUCTS, most], capture_output=True, check=True).stdout)
        for most in ("16", "600")
    )
    assert few < all_of_them / 2
