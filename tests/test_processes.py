"""Lines through several processes: the same as through one, in order, and no process is left behind."""

import os
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import count

import pytest

from tests.conftest import ROOT
from zsnmt import processes
from zsnmt.errors import InputError
from zsnmt.processes import cores, in_another_process, map_in_processes, memory, worker_pool
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


@pytest.mark.parametrize("limit, share", [("max\n", 1.0), (None, 1.0), ("1000000\n", 0.0)])
def test_the_memory_is_that_of_the_container(limit, share, tmp_path, monkeypatch):
    file = tmp_path / "memory.max"
    if limit:
        file.write_text(limit)
    monkeypatch.setattr(processes, "LIMIT_FILE", file)
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert memory() == (physical if share else 1000000)


def test_a_machine_that_does_not_tell_its_cores_has_one(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1
