"""The one place that calls fairseq's commands: a training, with its command and its log in a folder."""

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.project import PACKAGE
from zsnmt.files.records import damage_of
from zsnmt.files.replacing import replacing
from zsnmt.runs.folder import CHECKPOINTS, COMMAND_FILE, LOG_FILE
from zsnmt.runs.log import progress_line
from zsnmt.runs.time_left import TimeLeft
from zsnmt.training.children import ending, start
from zsnmt.training.steps import Steps

OF_DATA = {  # options that belong to the data of one training, or to what it went on from
    "--extra-data",
    "--extra-lang-pairs",
    "--sampling-weights-from-file",
    "--virtual-data-size",
    "--finetune-from-model",
}
PAUSE = 0.1  # seconds between two looks at a log
REFUSAL = re.compile(r"(?:fairseq-train: )?error: (.*)")  # of argparse, or one of ours
OURS = "zsnmt.errors.InputError: "
FIXED = ("--no-epoch-checkpoints", "--log-format", "json", "--num-workers", "0")


def fairseq_train(steps: Steps, folder: Path, title: str, data: Path, options: Sequence[str]) -> None:
    """Train a model on binarised data, its checkpoints in `folder`; a training that was stopped goes on from
    its last one.

    Raises `InputError` if fairseq fails.
    """
    command = ["--user-dir", str(PACKAGE), "--save-dir", str(folder / CHECKPOINTS), *FIXED]
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
    with damage_of(path, "train the run again with recipes/train.sh"):
        _, _, *words = shlex.split(path.read_text(encoding="utf-8"))  # without program and data
    values = {place + 1 for place, word in enumerate(words) if word in OF_DATA}
    return [
        word
        for place, word in enumerate(words)
        if place not in values and word.partition("=")[0] not in {*OF_DATA, "--cpu"}
    ]


def device() -> list[str]:
    """fairseq's option for a machine without GPU."""
    import torch  # takes seconds to load

    return [] if torch.cuda.is_available() else ["--cpu"]


def train(folder: Path, title: str, arguments: Sequence[str]) -> None:
    """Run fairseq with its command and its whole log, which it adds to itself, in a folder; a line for each
    epoch on the terminal.
    """
    from zsnmt.runs.checkpoints import replace_damaged_last  # loads PyTorch

    command = [str(Path(sys.executable).with_name("fairseq-train")), *arguments, *device()]
    folder.mkdir(parents=True, exist_ok=True)
    remove_halves(folder / CHECKPOINTS)
    if said := replace_damaged_last(folder / CHECKPOINTS):
        sys.stderr.write(f"{title}: {said}\n")
    with replacing(folder / COMMAND_FILE) as file:
        file.write(shlex.join(command).encode("utf-8"))
    log = folder / LOG_FILE
    try:
        with log.open("a+b") as file, start(command, file) as process:
            reason = show_progress(lines_of(log, file.tell(), process), title, TimeLeft(arguments))
    finally:
        remove_halves(folder / CHECKPOINTS)
    if process.returncode != 0:
        reason = reason or f"fairseq-train {ending(process.returncode)}"
        raise InputError(f"{title}: {reason}; {log} has the whole log")


def remove_halves(checkpoints: Path) -> None:
    """Remove what a training left that was ended while it saved a checkpoint."""
    for kind in ("part", "tmp"):
        for path in checkpoints.glob(f"*.pt.{kind}"):
            path.unlink()


def lines_of(log: Path, start: int, process: subprocess.Popen) -> Iterator[str]:
    """The lines that a process writes to its log behind a place in bytes, until it has ended."""
    rest, ended = b"", False
    with log.open("rb") as file:
        file.seek(start)
        while not ended:
            ended = process.poll() is not None
            *lines, rest = (rest + file.read()).split(b"\n")
            for line in [*lines, rest] if ended else lines:
                yield line.decode("utf-8", errors="replace")
            if not ended:
                time.sleep(PAUSE)


def show_progress(lines: Iterable[str], title: str, time_left: TimeLeft) -> str:
    """Show a training log, line by line as it is written, each message once, and how long it goes on; returns
    what an error in it says, or nothing.
    """
    shown, reason, in_traceback = set(), "", False
    for line in lines:
        if (message := progress_line(line)) and message not in shown:
            shown.add(message)
            sys.stderr.write(f"{title}: {message}{time_left.after(line)}\n")
        if refusal := REFUSAL.fullmatch(line):
            reason = refusal[1]
        elif in_traceback and line.strip() and not line[0].isspace():
            reason = line.strip().removeprefix(OURS)  # behind the frames of a traceback
        in_traceback = line.startswith("Traceback ") or in_traceback and line[:1] in ("", " ")
    return reason
