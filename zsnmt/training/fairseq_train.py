"""The one place that calls fairseq's commands: a training, with its command and its log in a folder."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from zsnmt.errors import InputError
from zsnmt.files import replacing
from zsnmt.runs.folder import CHECKPOINTS, COMMAND_FILE, LOG_FILE
from zsnmt.runs.log import progress_line
from zsnmt.training.children import started
from zsnmt.training.steps import Steps

PROJECT = Path(__file__).resolve().parents[2]  # the folder of the checkout
USER_DIR = PROJECT / "zsnmt"
OF_DATA = {  # options that belong to the data of one training, or to what it went on from
    "--extra-data",
    "--extra-lang-pairs",
    "--sampling-weights-from-file",
    "--virtual-data-size",
    "--finetune-from-model",
}
FIXED = ("--no-epoch-checkpoints", "--log-format", "json", "--num-workers", "0")


def fairseq_train(steps: Steps, folder: Path, title: str, data: Path, options: Sequence[str]) -> None:
    """Train a model on binarised data, its checkpoints in `folder`; a training that was stopped goes on from
    its last one.

    Raises `InputError` if fairseq fails.
    """
    command = ["--user-dir", str(USER_DIR), "--save-dir", str(folder / CHECKPOINTS), *FIXED]
    work = partial(train, folder, title, [str(data), *options, *command])
    steps.make(
        folder, "train", folder / CHECKPOINTS, work=work, inputs=[data], settings={"options": [*options]}
    )


def options_of(run: Path) -> list[str]:
    """The options that a run was trained with, but for its data, what it went on from and the device.

    Raises `InputError` for a run that does not say how it was trained.
    """
    path = run / COMMAND_FILE
    if not path.is_file():
        raise InputError(
            f"{path} is missing: it says with which options the run was trained; give a run made by "
            "recipes/train.sh"
        )
    _, _, *words = shlex.split(path.read_text(encoding="utf-8"))  # without program and data
    values = {place + 1 for place, word in enumerate(words) if word in OF_DATA}
    return [
        word
        for place, word in enumerate(words)
        if place not in values and word not in OF_DATA and word != "--cpu"
    ]


def device() -> list[str]:
    """fairseq's option for a machine without GPU."""
    import torch  # takes seconds to load

    return [] if torch.cuda.is_available() else ["--cpu"]


def train(folder: Path, title: str, arguments: Sequence[str]) -> None:
    """Run fairseq with its command and its whole log, which is added to, in a folder; a line for each
    epoch on the terminal.
    """
    command = [str(Path(sys.executable).with_name("fairseq-train")), *arguments, *device()]
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / COMMAND_FILE) as file:
        file.write(shlex.join(command).encode("utf-8"))
    with started(command) as process, (folder / LOG_FILE).open("ab", buffering=0) as log:
        last = show_progress(copied(process.stdout, log), title)
        status = process.wait()
    if status != 0:
        raise InputError(
            f"{title}: {last or f'fairseq-train ended with status {status}'}; {folder / LOG_FILE} has the "
            "whole log"
        )


def copied(lines: Iterable[bytes], file: BinaryIO) -> Iterable[str]:
    for line in lines:
        file.write(line)
        yield line.decode("utf-8", errors="replace")


def show_progress(lines: Iterable[str], title: str) -> str:
    """Show a training log, line by line as it is written; returns what an error in it says, or nothing."""
    last = ""
    for line in lines:
        if shown := progress_line(line):
            sys.stderr.write(f"{title}: {shown}\n")
        if line.strip() and "| INFO |" not in line:
            last = line.strip()  # of a traceback, the sentence that says what is wrong
    return last if "Error" in last or "Exception" in last else ""
