"""The words of a training for half precision, which configs for GPUs have."""

from collections.abc import Sequence
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.runs.folder import CHECKPOINTS, COMMAND_FILE, LAST_CHECKPOINT, training_words

EFFICIENT = "--memory-efficient-"  # with a word for half precision: besides, in any order, or alone
HALF_PRECISION = ("--fp16", "--bf16", "--amp", f"{EFFICIENT}fp16", f"{EFFICIENT}bf16")
WHOLE_PRECISION = ""  # a training without such a word


def precision_of(words: Sequence[str]) -> str:
    """The last word for half precision, which counts, in its form of less memory if that is there, too;
    `WHOLE_PRECISION` without any.
    """
    last = next((word for word in reversed(words) if word in HALF_PRECISION), WHOLE_PRECISION)
    efficient = last.replace("--", EFFICIENT, 1)
    return efficient if efficient in words else last


def in_precision(words: Sequence[str], precision: str) -> list[str]:
    """The words of a training in a precision, and no other."""
    others = [word for word in words if word not in HALF_PRECISION]
    return [*others, precision] if precision else others


def begun_precision(folder: Path) -> str | None:
    """The precision of a training that goes on from a checkpoint in a folder, which it keeps; None for one
    that begins.
    """
    command = folder / COMMAND_FILE
    if not (folder / CHECKPOINTS / LAST_CHECKPOINT).is_file() or not command.is_file():
        return None
    return precision_of(training_words(folder))


def fitting_precision(words: Sequence[str], begun: str | None, on_gpus: bool) -> tuple[str, str]:
    """The precision of a training that is told so, and what to say where it is another than that.

    It keeps that with which it was `begun`, and is float32 without GPUs, where half precision is slow.
    Raises `InputError` for one begun in half precision that is to go on without.
    """
    told = precision_of(words)
    if begun is None and told and not on_gpus:
        return WHOLE_PRECISION, f"trains on processors, where {told} would be slow: in float32"
    if begun is None or begun == told and on_gpus:
        return told, ""
    if begun and not on_gpus:
        raise InputError(f"was begun with {begun}, which is for GPUs; go on with one, or give another --name")
    return begun, f"goes on as it was begun, {f'with {begun}' if begun else 'in float32'}" * (begun != told)
