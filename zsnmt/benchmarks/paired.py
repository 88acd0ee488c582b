"""Paired figures: things that do the same job, in turn; and the memory that one takes."""

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from torch.profiler import ProfilerActivity, profile

logger = logging.getLogger(__name__)

IDLE = 0.3  # the largest load average of a machine that does nothing else


def paired_times(
    jobs: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Seconds of each job in each round, the jobs in turn, after one uncounted round."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for counted in [False, *[True] * rounds]:
        for name, job in jobs.items():
            start = clock()
            job()
            if counted:
                times[name].append(clock() - start)
    return times


def ratios(figures: Mapping[str, list[float]], baseline: str) -> dict[str, tuple[float, float, float]]:
    """Median, smallest and largest of each job's figure over the baseline's in the same round."""
    paired = {name: [a / b for a, b in zip(figures[name], figures[baseline])] for name in figures}
    return {name: (median(values), min(values), max(values)) for name, values in paired.items()}


def ratio_rows(times: dict[str, list[float]], baseline: str, called: str) -> Iterator[str]:
    """The lines of a table of ways to do a job, with the time that each takes."""
    yield f"| way | seconds (median) | ratio to {called}: median (range) |"
    yield "|---|---:|---:|"
    for title, (middle, low, high) in ratios(times, baseline).items():
        yield f"| {title} | {median(times[title]):.2f} | {middle:.3f} ({low:.3f}–{high:.3f}) |"


def warn_if_busy() -> None:
    """Say so where the machine has other work, in which case figures mean little."""
    load = os.getloadavg()[0]
    if load > IDLE:
        logger.warning(
            "the load average is %.1f, above %.1f: the machine has other work; measure again when it is idle",
            load,
            IDLE,
        )


def peak_memory(job: Callable[[], object]) -> int:
    """Most bytes that tensors take at once while a job runs, beyond what they took before it.

    On a GPU by the count of PyTorch's allocator, elsewhere by the allocations that PyTorch's profiler
    records, so what a library takes for itself is not in it.
    """
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        job()
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        job()
    with TemporaryDirectory() as folder:
        trace = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    changes = sorted((event["ts"], event["args"]["Bytes"]) for event in events if event["name"] == "[memory]")
    return max(accumulate((size for _, size in changes), initial=0))
