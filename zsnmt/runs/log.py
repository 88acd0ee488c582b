"""What fairseq's training log (`--log-format json`) says."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from zsnmt.errors import InputError

# A model that a training only begins with counts as 0 updates.
RESUMED = re.compile(r"Loaded checkpoint .*checkpoint_last[^/]*\.pt \(epoch (\d+) @ ([1-9]\d*) updates\)")
BEGINNING = re.compile(r"No existing checkpoint found |Loaded checkpoint .* @ 0 updates\)")
SKIPPED = re.compile(
    r"\| WARNING \| .* ([\d,]+) samples have invalid sizes and will be skipped, max_positions=\(?(\d[\d, ]*)"
)

CRITERION = "label_smoothed_cross_entropy"  # logs the loss (nll_loss) by which checkpoints are chosen
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
    for kind in ("train_inner", "valid"):
        for entry in entries_of(kind, log_line):
            return describe_entry(kind, entry)
    return None


def entries_of(kind: str, log: str) -> Iterator[dict[str, Any]]:
    """The entries of a kind in a log, but for what was cut, as by a full disk."""
    for text in re.findall(rf"\| {kind} \| (\{{.*\}})", log):
        with suppress(ValueError):
            yield json.loads(text)


def describe_entry(kind: str, entry: Mapping[str, Any]) -> str:
    """What a person wants to see of an entry."""
    if kind == "train_inner":
        loss = entry.get("nll_loss", entry.get("loss"))
        return f"epoch {entry['update']:.1f}, training loss {loss}, {float(entry.get('wps', 0)):.0f} words/s"
    loss = entry.get("valid_nll_loss", entry.get("valid_loss"))
    best = (
        ", the best" if entry.get("valid_best_nll_loss", entry.get("valid_best_loss")) in (None, loss) else ""
    )
    return f"epoch {entry['epoch']} ends, validation loss {loss} bits a token{best}"


def since_beginning(log: str) -> str:
    """What a log has of the last training in it: a run that is begun anew goes on in the log of before."""
    return BEGINNING.split(log)[-1]


def logged_epochs(log: str) -> list[dict[str, Any]]:
    """What fairseq's log (`--log-format json`) says of the training in each epoch, in order."""
    return [*entries_of("train", since_beginning(log))]


def pairs_of_update(log: str) -> float | None:
    """How many sentence pairs an update has had on average, in the last epoch; None where there is none."""
    epochs = logged_epochs(log)
    return float(epochs[-1].get("train_bsz", 0)) or None if epochs else None


class Validated(NamedTuple):
    """A validation: after which epoch and how many updates, and its loss (bits a token)."""

    epoch: int
    updates: int
    loss: float


def logged_validations(log: str) -> list[Validated]:
    """What fairseq's log (`--log-format json`) says of each validation, in order; `InputError` for one
    without the loss that a criterion may keep to itself.
    """
    found = []
    for entry in entries_of("valid", since_beginning(log)):
        if "valid_nll_loss" not in entry:
            raise InputError(
                f"the training log has no valid_nll_loss in epoch {entry['epoch']}, which its criterion does "
                f"not log; train with --criterion {CRITERION}"
            )
        found.append(
            Validated(entry["epoch"], int(entry["valid_num_updates"]), float(entry["valid_nll_loss"]))
        )
    return found


class Summary(NamedTuple):
    """A whole training: its epochs and updates, its best validation loss (bits a token), and in which epoch
    and after how many updates it had that; the latter is None where an older text does not say it.
    """

    epochs: int
    updates: int
    loss: float
    best_epoch: int
    best_updates: int | None = None

    def __str__(self) -> str:
        updates = "" if self.best_updates is None else f" after {self.best_updates} updates"
        return (
            f"{self.epochs} epochs, {self.updates} updates, best validation loss {self.loss:g} bits a token "
            f"in epoch {self.best_epoch}{updates}"
        )

    @property
    def still_fell(self) -> bool | None:
        """Whether the loss still fell when the training ended: its last validation was its best. None where
        that is not known: of one epoch, within which it may have been validated several times.
        """
        if self.best_updates is not None:
            return self.best_updates == self.updates
        return None if self.epochs == 1 else self.best_epoch == self.epochs


SUMMARY = re.compile(
    r"(\d+) epochs, (\d+) updates, best validation loss ([\d.e+-]+) bits a token in epoch (\d+)"
    r"(?: after (\d+) updates)?"
)


def summarise(validations: Sequence[Validated]) -> Summary:
    """The training with these validations; `InputError` where it was never validated."""
    if not validations:
        raise InputError("the training log holds no validation; train the run first")
    best, last = min(validations, key=lambda one: one.loss), validations[-1]
    return Summary(last.epoch, last.updates, loss=best.loss, best_epoch=best.epoch, best_updates=best.updates)


def read_summary(text: str) -> Summary | None:
    """The training that a text speaks of; None of another text, as runs that were adapted have."""
    match = SUMMARY.match(text)
    if match is None:
        return None
    return Summary(
        int(match[1]),
        int(match[2]),
        loss=float(match[3]),
        best_epoch=int(match[4]),
        best_updates=int(match[5]) if match[5] else None,
    )
