"""Translation on a GPU: fairseq's search and the packed one, by precision and size of batch."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import torch

from zsnmt.benchmarks.engines import Way, open_direct
from zsnmt.benchmarks.methods import run
from zsnmt.benchmarks.paired import paired_times, peak_memory, ratios
from zsnmt.benchmarks.subjects import Subject, random_subject
from zsnmt.decoding.options import FAIRSEQ, FLOAT16, FLOAT32, PYTORCH
from zsnmt.decoding.search import Hypothesis
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.processes import cores

DEVICE = "cuda"
Batches = list[list[list[Hypothesis]]]  # the hypotheses of each sentence of each batch
WAYS = {
    f"{name} | {precision}": Way(engine, precision, workers=1, threads=1)
    for engine, name in ((FAIRSEQ, "fairseq-generate"), (PYTORCH, "zsnmt"))
    for precision in (FLOAT32, FLOAT16)
}


def gpu(
    size: str, lines: int, beam: int, batches: Sequence[int], rounds: int, output: Path | None
) -> Iterator[str]:
    """A table of searches by random weights of a size, for each size of batch, with the memory of tensors
    beyond that of the weights; `InputError` without a GPU.
    """
    if not torch.cuda.is_available():
        raise InputError("there is no GPU; zsnmt benchmark translation measures engines on a CPU")
    yield from searches(size, lines, beam, batches=batches, rounds=rounds, output=output)


def searches(
    size: str, lines: int, beam: int, *, batches: Sequence[int], rounds: int, output: Path | None
) -> Iterator[str]:
    """The same, on the device there is."""
    torch.set_num_threads(cores())
    subject = random_subject(size, beam, lines)
    engines = {title: open_direct(way, on_device(way, size, beam)) for title, way in WAYS.items()}
    jobs = {
        f"{title} | {batch}": partial(run, engine, subject.sentences, batch)
        for batch in batches
        for title, engine in engines.items()
    }
    found: dict[str, Batches] = {}
    memory = {title: peak_memory(lambda: found.update({title: job()})) for title, job in jobs.items()}
    tokens = {
        title: sum(len(best.tokens) for of_batch in of_job for best, *_ in of_batch)
        for title, of_job in found.items()
    }
    times = paired_times(jobs, rounds)
    yield f"\n{subject.about}: {lines} sentences, beam {beam}, {rounds} rounds:\n"
    yield (
        "| search | precision | sentences in a batch | output tokens/s (median) | ratio to the first: median "
        "(range) | memory, GiB |"
    )
    yield "|---|---|---:|---:|---:|---:|"
    speeds = {title: [tokens[title] / seconds for seconds in of_job] for title, of_job in times.items()}
    for title, (middle, low, high) in ratios(speeds, next(iter(jobs))).items():
        yield (
            f"| {title} | {median(speeds[title]):,.0f} | {middle:.2f} ({low:.2f}–{high:.2f}) | "
            f"{memory[title] / 2**30:.2f} |"
        )
    if output is not None:
        write_json(output, {"about": subject.about, "seconds": times, "tokens": tokens, "memory": memory})


def on_device(way: Way, size: str, beam: int) -> Subject:
    """Random weights on the device; in float16 for either search."""
    subject = random_subject(size, beam, number=0)
    model = subject.model.to(DEVICE)
    return replace(subject, model=model.half() if way.precision == FLOAT16 else model)
