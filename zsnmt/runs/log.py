"""What fairseq's training log (`--log-format json`) says."""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from zsnmt.errors import InputError

RESUMED = re.compile(r"Loaded checkpoint .*checkpoint_last[^/]*\.pt \(epoch (\d+) @ (\d+) updates\)")
SKIPPED = re.compile(
    r"\| WARNING \| .* ([\d,]+) samples have invalid sizes and will be skipped, max_positions=\(?(\d[\d, ]*)"
)

REFUSAL = re.compile(r"(?:fairseq-train: )?error: (.*)")  # of argparse, or one of ours
ERROR_PREFIX = "zsnmt.errors.InputError: "
# It stands before each line of a traceback where several processes train.
RANK_PREFIX = re.compile(r"^\[rank[0-9]+\]: ?")


class Errors:
    """What the last error in a log says, which is read line by line; empty where there is none."""

    def __init__(self) -> None:
        self.reason, self.in_traceback = "", False

    def read(self, line: str) -> None:
        """Take in the next line."""
        line = RANK_PREFIX.sub("", line)
        if refusal := REFUSAL.fullmatch(line):
            self.reason = refusal[1]
        elif self.in_traceback and line.strip() and not line[0].isspace():
            self.reason = line.strip().removeprefix(ERROR_PREFIX)  # behind the frames of a traceback
        self.in_traceback = line.startswith("Traceback ") or self.in_traceback and line[:1] in ("", " ")


def progress_line(log_line: str) -> str | None:
    """What a person wants to see of a line of fairseq's log (`--log-format json`), or None."""
    if skipped := SKIPPED.search(log_line):
        return (
            f"{skipped[1]} training sentences, counted in each direction, are left out: they are longer than "
            f"the {skipped[2]} tokens that the model reads and writes"
        )
    if resumed := RESUMED.search(log_line):
        return f"goes on in epoch {resumed[1]}, after {int(resumed[2]):,} updates"
    match = re.search(r"\| (train_inner|valid) \| (\{.*\})", log_line)
    if match is None:
        return None
    entry = json.loads(match[2])
    if match[1] == "train_inner":
        loss = entry.get("nll_loss", entry.get("loss"))
        return f"epoch {entry['update']:.1f}, training loss {loss}, {float(entry.get('wps', 0)):.0f} words/s"
    loss = entry.get("valid_nll_loss", entry.get("valid_loss"))
    best = (
        ", the best" if entry.get("valid_best_nll_loss", entry.get("valid_best_loss")) in (None, loss) else ""
    )
    return f"epoch {entry['epoch']} ends, validation loss {loss} bits a token{best}"


class Validated(NamedTuple):
    """A validation: after which epoch and how many updates, and its loss (bits a token)."""

    epoch: int
    updates: int
    loss: float


def logged_validations(log: str) -> list[Validated]:
    """What fairseq's log (`--log-format json`) says of each validation, in order."""
    entries = map(json.loads, re.findall(r"\| valid \| (\{.*\})", log))
    return [
        Validated(entry["epoch"], int(entry["valid_num_updates"]), float(entry["valid_nll_loss"]))
        for entry in entries
    ]


def training_summary(validations: Sequence[Validated]) -> str:
    """Epochs, updates and best loss of a training; `InputError` where it was never validated."""
    if not validations:
        raise InputError("the training log holds no validation; train the run first")
    best, last = min(validations, key=lambda one: one.loss), validations[-1]
    return (
        f"{last.epoch} epochs, {last.updates} updates, best validation loss {best.loss:g} bits a token in "
        f"epoch {best.epoch}"
    )


SUMMARY = re.compile(
    r"(\d+) epochs, (\d+) updates, best validation loss ([\d.e+-]+) bits a token in epoch (\d+)"
)


def read_summary(summary: str) -> Validated | None:
    """The last epoch and the updates of a training, and its best loss, of what `training_summary` says; None
    of another text, as runs that were adapted have.
    """
    match = SUMMARY.match(summary)
    return Validated(int(match[1]), int(match[2]), float(match[3])) if match else None


def still_fell(summary: str) -> bool:
    """Whether the last epoch of a training was its best, by what `training_summary` says; of another text it
    is taken to be.
    """
    match = SUMMARY.match(summary)
    return match is None or match[4] == match[1]
