"""A process that does a job for another, and what is heard of it when it cannot."""

import os
import signal
from concurrent.futures import BrokenExecutor

import pytest

from zsnmt.benchmarks.helper import Helper


def end_here() -> None:
    """End this process as the system does where memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail() -> None:
    raise ValueError("a fault of the job")


def test_a_job_is_done_as_often_as_it_is_asked_for():
    with Helper(lambda first: iter(range(first, 9)).__next__, 5) as job:
        assert [job(), job()] == [5, 6]


def test_what_a_job_raises_is_raised_here():
    with pytest.raises(ValueError, match="a fault of the job"), Helper(lambda: fail) as job:
        job()


def test_a_process_that_is_ended_is_told_of_whenever_that_is():
    with pytest.raises(BrokenExecutor):
        Helper(end_here)
    with pytest.raises(BrokenExecutor), Helper(lambda: end_here) as job:
        job()
    with pytest.raises(BrokenExecutor), Helper(lambda: fail) as job:
        job.process.kill()
        job.process.join()
        job()
