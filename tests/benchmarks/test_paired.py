"""Paired figures: the arithmetic, what memory counts, and the process that each thing has to itself."""

import os
import time
from multiprocessing import active_children

import pytest
import torch

from zsnmt.benchmarks.helper import Helper
from zsnmt.benchmarks.paired import paired_times, peak_memory, ratio_rows, ratios, warn_if_busy
from zsnmt.errors import InputError


def test_jobs_take_turns_and_ratios_are_paired():
    calls = []
    jobs = {name: lambda name=name: (calls.append(name), time.sleep(0.001)) for name in "ab"}
    times = paired_times(jobs, rounds=3)
    assert calls == list("ab") * 4 and [len(values) for values in times.values()] == [3, 3]
    assert ratios({"a": [1.0, 2.0, 4.0], "b": [2.0, 2.0, 2.0]}, "b") == {
        "a": (1.0, 0.5, 2.0),
        "b": (1.0, 1.0, 1.0),
    }
    *_, row, _ = ratio_rows({"a": [1.0, 2.0, 4.0], "b": [2.0, 2.0, 2.0]}, "b", "the second")
    assert row == "| a | 2.00 | 1.000 (0.500–2.000) |"


def test_peak_memory_is_what_lives_at_once_and_was_not_there_before():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    before = torch.zeros(4096, device=device)

    def job():
        first, second = torch.zeros(1024, device=device), before.clone()
        del first
        third = torch.zeros(512, device=device)
        del second, third
        torch.zeros(2048, device=device)

    assert peak_memory(job) == 4 * (1024 + 4096)
    assert peak_memory(lambda: None) == 0


@pytest.mark.parametrize("load, warnings", [(0.3, 0), (0.31, 1)])
def test_a_busy_machine_is_told_of(load, warnings, monkeypatch, caplog):
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0, 0))
    warn_if_busy()
    assert len(caplog.messages) == warnings and all(
        "measure again when it is idle" in message for message in caplog.messages
    )


def test_a_helper_prepares_once_in_a_process_of_its_own():
    def counting(start):
        numbers = iter(range(start, 100))
        return lambda: (next(numbers), os.getpid())

    others = active_children()
    with Helper(counting, 3) as one, Helper(counting, 50) as other:
        found = [one(), other(), one(), other()]
    assert [number for number, _ in found] == [3, 50, 4, 51]
    assert found[0][1] == found[2][1] and len({os.getpid(), found[0][1], found[1][1]}) == 3
    assert {*active_children()} <= {*others}


def test_what_a_helper_raises_is_raised_here():
    def unprepared():
        raise InputError("there is no model")

    def broken():
        return lambda: 1 / 0

    others = active_children()
    with pytest.raises(InputError, match="there is no model"):
        Helper(unprepared)
    with pytest.raises(ZeroDivisionError), Helper(broken) as helper:
        helper()
    assert {*active_children()} <= {*others}
