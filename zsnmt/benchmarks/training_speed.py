"""Words a second of whole trainings, `fairseq-train --cpu`, with each option that makes them faster, in
turn.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import zsnmt
from zsnmt.benchmarks.paired import ratios, warn_if_busy
from zsnmt.benchmarks.sizes import SIZES, stock_options
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.processes import progress

STOCK = "fairseq's"
PRECISIONS = {"float32": [], "bfloat16": ["--cpu-bf16"]}
# Each with those before it.
OPTIONS = {
    STOCK: ["--criterion", "label_smoothed_cross_entropy", "--optimizer", "adam"],
    "and --fast-training": ["--fast-training"],
    "and --criterion chunked_label_smoothed_cross_entropy": [
        "--criterion",
        "chunked_label_smoothed_cross_entropy",
    ],
    "and --optimizer fused_adam": ["--optimizer", "fused_adam"],
}
RECIPE = (
    "--cpu --task zs_translation --arch zs_transformer_residual --label-smoothing 0.1 --adam-betas "
    "(0.9,0.98) --adam-eps 1e-9 --clip-norm 0 --lr-scheduler inverse_sqrt --lr 2e-3 --warmup-updates 1000 "
    "--warmup-init-lr 0 --seed 1 --num-workers 0 --no-save --disable-validation --log-format json"
).split()


class Speed(NamedTuple):
    """Words a second, and the loss (bits a token), over the second half of a training's updates."""

    words: float
    loss: float


def training_speed(
    data: Path,
    size: str,
    updates: int,
    max_tokens: int,
    dropout: float,
    threads: int,
    rounds: int,
    output: Path | None,
) -> Iterator[str]:
    """A table of trainings of `updates` updates each, in float32 and in bfloat16, with one option more in
    each row.

    The environment is this process's, but for the number of threads. Raises `InputError` when a training
    fails.
    """
    if updates < 2 or updates % 2:
        raise InputError(f"--updates is {updates}; give an even number, the second half of which counts")
    warn_if_busy()
    common = [*RECIPE, *model_options(size, dropout), "--max-tokens", str(max_tokens), *after(updates)]
    trainings = {}
    for precision, of_precision in PRECISIONS.items():
        for last, name in enumerate(OPTIONS):
            so_far = [option for options in [*OPTIONS.values()][: last + 1] for option in options]
            trainings[f"{precision} | {name}"] = [*common, *of_precision, *so_far]
    found: dict[str, list[Speed]] = {title: [] for title in trainings}
    for title in progress([*trainings] * rounds, "trainings"):
        found[title].append(train(data, trainings[title], threads))
    about = (
        f"fairseq-train on {data}, {size} size, dropout {dropout}, batches of {max_tokens} tokens, "
        f"{threads} thread(s), updates {updates // 2 + 1} to {updates}, {rounds} rounds"
    )
    yield f"\n{about}:\n"
    yield from table(found)
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
    """The speed of a training, by the last line of its log; `InputError` with what it said last if it
    fails.
    """
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
    return Speed(float(last["wps"]), float(last["loss"]))


def table(found: dict[str, list[Speed]]) -> Iterator[str]:
    """The lines of the table."""
    speeds = {title: [each.words for each in of_training] for title, of_training in found.items()}
    yield (
        "| precision | training | words/s (median) | ratio to fairseq's in float32: median (range) | "
        "loss, bits a token |"
    )
    yield "|---|---|---:|---:|---:|"
    for title, (middle, low, high) in ratios(speeds, next(iter(found))).items():
        loss = median(each.loss for each in found[title])
        yield f"| {title} | {median(speeds[title]):,.0f} | {middle:.2f} ({low:.2f}–{high:.2f}) | {loss:.3f} |"
