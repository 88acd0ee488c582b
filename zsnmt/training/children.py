"""Processes that a command starts: none of them outlives it."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing import connection, get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import BinaryIO

from zsnmt import console
from zsnmt.errors import GO_ON, InputError
from zsnmt.processes import holding_signals, share_kernels

SAVING = 120.0  # seconds that a process has to save what it has, when it is told to end
libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1  # of Linux's prctl
DEVICES, VISIBLE = Path("/dev"), "CUDA_VISIBLE_DEVICES"
# On a CPU: one thread for each process, since threads that wait for each other cost more than they give. And
# glibc would hand large tensors back to the system after each use and fault them in again at the next.
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "17179869184",
    "MALLOC_TOP_PAD_": "268435456",
    "PYTHONWARNINGS": "ignore",
}  # variables of the environment that a command's processes have unless a person sets others
NEVER = ("PYTHONOPTIMIZE",)  # fairseq checks what it does by assertions, which this leaves out


@contextmanager
def start(
    command: Sequence[str], output: BinaryIO, settings: Mapping[str, str] = {}, processes: int = 1
) -> Iterator[subprocess.Popen]:
    """A process that writes its output and errors to a file; it is ended when the block is left, and when
    this process dies. `settings`: further variables that it has unless a person sets others; `processes`: how
    many like it there are at a time.
    """
    environment = {**SETTINGS, **settings, **os.environ}
    share_kernels(environment, processes)
    with ExitStack() as stack:
        with holding_signals() as heed:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={name: value for name, value in environment.items() if name not in NEVER},
                close_fds=False,  # so that it holds the locks that this process holds
                preexec_fn=partial(begin, os.getpid(), heed),
            )
            stack.callback(end, process)
        yield process


def end(process: subprocess.Popen) -> None:
    """Have a process end, which may first save what it has; when that takes too long, or at a second
    interrupt, it is killed.
    """
    process.terminate()
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(SAVING)
    finally:
        process.kill()
        process.wait()


def side_by_side(jobs: Sequence[Callable[[], object]], most: int) -> bool:
    """Do the jobs in processes of their own, as many as `most` at a time; whether all succeeded.

    Where there are several GPUs, each has one of them, in turn. A job that fails says why on stderr and the
    others go on. All are ended when this process is interrupted or dies.
    """
    waiting, succeeded = [*jobs], True
    running: dict[int, BaseProcess] = {}  # by the lowest numbers that were free
    try:
        while waiting or running:
            while waiting and len(running) < most:
                number = next(number for number in range(most) if number not in running)
                with holding_signals() as heed:
                    running[number] = start_job(waiting.pop(0), number, min(most, len(jobs)), heed=heed)
            connection.wait([process.sentinel for process in running.values()])
            ended = [process for process in running.values() if not process.is_alive()]
            running = {number: process for number, process in running.items() if process not in ended}
            succeeded &= all(process.exitcode == 0 for process in ended)
            for status in (process.exitcode or 0 for process in ended):
                if status < 0:
                    sys.stderr.write(f"error: a process of this command {describe_ending(status)}\n")
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.join()
    return succeeded


def all_side_by_side(jobs: Sequence[Callable[[], object]], most: int) -> None:
    """Do the jobs as `side_by_side` does; `InputError` if one fails, when the others are done."""
    if not side_by_side(jobs, most):
        raise InputError(f"some runs failed (see above); {GO_ON}")


def gpu_of(number: int) -> dict[str, str]:
    """The variable that gives the process of a number one GPU of several; nothing where there is at most
    one.
    """
    listed = os.environ.get(VISIBLE)
    gpus = [*map(str, range(len([*DEVICES.glob("nvidia[0-9]*")])))] if listed is None else listed.split(",")
    return {VISIBLE: gpus[number % len(gpus)]} if len(gpus) > 1 else {}


def describe_ending(status: int) -> str:
    """How a process ended that says nothing of it, by its status as Python has it."""
    if status - 128 in console.STOPPING:
        return f"was told to end, by {signal.Signals(status - 128).name}"
    if status >= 0:
        return f"ended with status {status}"
    ended = f"was ended by {signal.Signals(-status).name}"
    return f"{ended}, as the system does where memory is short" if status == -signal.SIGKILL else ended


def start_job(job: Callable[[], object], number: int, together: int, heed: Callable[[], None]) -> BaseProcess:
    process = get_context("fork").Process(target=run_job, args=(job, os.getpid(), number, together, heed))
    process.start()
    return process


def run_job(
    job: Callable[[], object], parent: int, number: int, together: int, heed: Callable[[], None]
) -> None:
    def work() -> None:
        heed()
        signal.signal(signal.SIGINT, console.do_nothing)  # the parent hears it, too, and ends its jobs
        job()

    end_with(parent)
    os.environ |= gpu_of(number)
    share_kernels(os.environ, together)
    console.run(work)


def begin(parent: int, heed: Callable[[], None]) -> None:
    """What a process does before its program: it heeds signals again, and ends with the one that started
    it.
    """
    end_with(parent)
    heed()


def end_with(parent: int) -> None:
    """Have the system kill this process when the one that started it dies; where the system cannot, only
    its locks tell.
    """
    if sys.platform == "linux":
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # which died before
            os.kill(os.getpid(), signal.SIGKILL)
