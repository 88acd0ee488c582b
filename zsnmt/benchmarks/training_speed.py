"""Words a second of whole trainings, `fairseq-train`, with each option that makes them faster, in turn: on
a GPU, if there is one, else on a CPU.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import zsnmt
from zsnmt.benchmarks.paired import ratios, warn_if_busy
from zsnmt.benchmarks.sizes import SIZES, stock_options
from zsnmt.decoding.options import FLOAT32
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.languages import read_languages
from zsnmt.processes import progress
from zsnmt.training.machine import GIGABYTE, this_machine

STOCK = "fairseq's"
PRECISIONS = {FLOAT32: [], "bfloat16": ["--cpu-bf16"]}
PRECISIONS_OF_GPUS = {FLOAT32: [], "float16": ["--fp16"], "bfloat16": ["--bf16"]}
FAST_TRAINING = "and --fast-training"
# Each with those before it.
OPTIONS = {
    STOCK: ["--criterion", "label_smoothed_cross_entropy", "--optimizer", "adam"],
    FAST_TRAINING: ["--fast-training"],
    "and --criterion chunked_label_smoothed_cross_entropy": [
        "--criterion",
        "chunked_label_smoothed_cross_entropy",
    ],
    "and --optimizer fused_adam": ["--optimizer", "fused_adam"],
}
OPTIONS_OF_GPUS = {name: OPTIONS[name] for name in OPTIONS if name != FAST_TRAINING}  # which changes nothing
RECIPE = (
    "--distributed-world-size 1 --task zs_translation --arch zs_transformer_residual --label-smoothing 0.1 "
    "--adam-betas (0.9,0.98) --adam-eps 1e-9 --clip-norm 0 --lr-scheduler inverse_sqrt --lr 2e-3 "
    "--warmup-updates 1000 --warmup-init-lr 0 --seed 1 --num-workers 0 --no-save "
    "--disable-validation --log-format json"
).split()


class Speed(NamedTuple):
    """Words a second, and the loss (bits a token), over the second half of a training's updates; and what of
    a GPU's memory the last update left free (GiB).
    """

    words: float
    loss: float
    left: float | None = None


def training_speed(
    data: Path,
    size: str,
    updates: int,
    max_tokens: int,
    dropout: float,
    threads: int,
    rounds: int,
    output: Path | None,
    precisions: Sequence[str] | None = None,
) -> Iterator[str]:
    """A table of trainings of `updates` updates each, in each precision of the machine or some of them, with
    one option more in each row.

    The environment is this process's, but for the number of threads. Raises `InputError` when a training
    fails, and for a precision that the machine does not train in.
    """
    if updates < 2 or updates % 2:
        raise InputError(f"--updates is {updates}; give an even number, the second half of which counts")
    warn_if_busy()
    machine = this_machine()
    gpu = machine.gpu
    common = [*RECIPE, *model_options(size, dropout), "--max-tokens", str(max_tokens), *after(updates)]
    common += [] if gpu else ["--cpu"]
    known, faster = (PRECISIONS_OF_GPUS, OPTIONS_OF_GPUS) if gpu else (PRECISIONS, OPTIONS)
    if not (gpu or machine.bfloat16):
        known = {FLOAT32: PRECISIONS[FLOAT32]}  # what --cpu-bf16 would train in, too
    if unknown := {*(precisions or ())} - {*known}:
        raise InputError(f"{min(unknown)} is not trained in here; choose {' or '.join(known)}")
    trainings = {}
    for precision in precisions or known:
        for last, name in enumerate(faster):
            so_far = [option for options in [*faster.values()][: last + 1] for option in options]
            trainings[f"{precision} | {name}"] = [*common, *known[precision], *so_far]
    found: dict[str, list[Speed]] = {title: [] for title in trainings}
    for title in progress([*trainings] * rounds, "trainings"):
        found[title].append(train(data, trainings[title], threads))
    about = (
        f"fairseq-train on {data}, {size} size, dropout {dropout}, batches of {max_tokens} tokens, "
        f"{threads} thread(s), updates {updates // 2 + 1} to {updates}, {rounds} rounds"
    )
    yield f"\n{about}:\n"
    yield from table(found, gpu)
    if output is not None:
        figures = {title: [each._asdict() for each in of_training] for title, of_training in found.items()}
        write_json(output, {"about": about, "trainings": figures})


def model_options(size: str, dropout: float) -> Iterator[str]:
    """The options of a model, as a command takes them."""
    for name, value in stock_options(SIZES[size], dropout).items():
        yield f"--{name.replace('_', '-')}"
        if value is not True:
            yield str(value)


def after(updates: int) -> list[str]:
    """The options that end a training after so many updates, with a line in its log after the first half
    and at the end.
    """
    return ["--max-update", str(updates), "--log-interval", str(updates // 2)]


def train(data: Path, options: list[str], threads: int) -> Speed:
    """The speed of a training, by the last line of its log; `InputError` for a folder without binarised data,
    and with what a training said last if it fails.
    """
    read_languages(data)
    command = [
        sys.executable,
        "-m",
        "fairseq_cli.train",
        str(data),
        "--user-dir",
        str(Path(zsnmt.__file__).parent),
        *options,
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    lines = done.stdout.strip().split("\n")
    if done.returncode != 0:
        raise InputError(f"fairseq-train failed: {lines[-1]}")
    *_, last = (json.loads(line.split("| train_inner | ")[1]) for line in lines if "| train_inner | " in line)
    left = float(last["gb_free"]) if "gb_free" in last else None
    return Speed(float(last["wps"]), float(last["loss"]), left)


def table(found: dict[str, list[Speed]], gpu: float) -> Iterator[str]:
    """The lines of the table, with the memory of tensors on a GPU of so many GB."""
    speeds = {title: [each.words for each in of_training] for title, of_training in found.items()}
    memory = " memory, GiB |" if gpu else ""
    yield (
        "| precision | training | words/s (median) | ratio to the first: median (range) | "
        f"loss, bits a token |{memory}"
    )
    yield "|---|---|---:|---:|---:|" + ("---:|" if gpu else "")
    for title, (middle, low, high) in ratios(speeds, next(iter(found))).items():
        loss = median(each.loss for each in found[title])
        used = [gpu * GIGABYTE / 2**30 - each.left for each in found[title] if each.left is not None]
        yield (
            f"| {title} | {median(speeds[title]):,.0f} | {middle:.2f} ({low:.2f}–{high:.2f}) | {loss:.3f} |"
            + (f" {max(used):.1f} |" if used else "")
        )
