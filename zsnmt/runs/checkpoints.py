"""Checkpoints: read safely, the last one repaired, the best ones averaged (Liu et al. 2021, section 3.2)."""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import torch
from fairseq import checkpoint_utils
from torch import Tensor

import zsnmt.compatibility  # noqa: F401
from zsnmt.errors import InputError, in_one_line
from zsnmt.files.checksums import check_archive
from zsnmt.files.replacing import replacing
from zsnmt.modules.attention_residual import is_switch
from zsnmt.runs.checksums import renew_checksums
from zsnmt.runs.folder import LAST_CHECKPOINT
from zsnmt.runs.trained_directions import TRAINED

logger = logging.getLogger(__name__)

BEST = re.compile(r"checkpoint\.best_.+_(\d+\.?\d*)\.pt")


def best_checkpoints(folder: Path, number: int) -> list[Path]:
    """The `number` checkpoints with the lowest loss that fairseq kept as its best, the best first."""
    found = sorted(
        (float(match[1]), path) for path in folder.glob("*.pt") if (match := BEST.fullmatch(path.name))
    )
    if not found:
        raise InputError(
            f"{folder} holds no checkpoint.best_*.pt: the run has kept none, or no validation came before "
            "the end of the training; train longer, or with --validate-interval 1 --save-interval 1"
        )
    return [path for _, path in found[:number]]


@contextmanager
def explain_read_errors(path: Path) -> Iterator[None]:
    """Turns whatever goes wrong when a checkpoint is read into an `InputError` of one sentence."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path} is missing; train the run to its end first") from None
    except Exception as error:  # torch raises many kinds, pickle among them
        raise InputError(
            f"{path} cannot be loaded: it is truncated, no checkpoint, of another version, or holds more "
            f"than weights and options ({type(error).__name__}: {in_one_line(error)}); remove it and run the "
            "recipe again"
        ) from error


def load_checkpoint(path: Path) -> dict:
    """A checkpoint on the CPU; never runs code from it. Raises `InputError` if it is damaged or unsafe, and
    for weights that are not finite.
    """
    with explain_read_errors(path):
        check_archive(path)
        state = torch.load(path, map_location="cpu", weights_only=True)
        check_finite(path, state["model"])
    return state


def load_state(path: Path, overrides: Mapping[str, object]) -> dict:
    """A checkpoint as fairseq makes models of it, with options of another value; see `load_checkpoint`."""
    with explain_read_errors(path):
        check_archive(path)
        state = checkpoint_utils.load_checkpoint_to_cpu(str(path), dict(overrides))
        check_finite(path, state["model"])
    return state


def check_finite(path: Path, weights: Mapping[str, Tensor]) -> None:
    """`InputError` for a checkpoint with a weight that is not a number, or infinite."""
    for name, weight in weights.items():
        # The sum is fast, and finite numbers rarely have an infinite one.
        if weight.is_floating_point() and not weight.sum().isfinite() and not weight.isfinite().all():
            raise InputError(
                f"{path} holds numbers that are not finite, in {name}: it is damaged, or its training "
                "diverged; train the run again, with a smaller --lr if its loss is nan"
            )


def is_whole(path: Path) -> bool:
    """Whether a checkpoint can be loaded, and holds what was written to it."""
    try:
        if is_zipfile(path):
            check_archive(path)
        else:
            load_checkpoint(path)
    except InputError:
        return False
    return True


def replace_damaged_last(folder: Path) -> str:
    """Put the newest whole checkpoint in the place of a last one that is damaged, or is not there since the
    first save was not done with; training goes on from it.

    Returns what a person should know of it, nothing where the last one is whole or there is no checkpoint.
    Raises `InputError` where the last one is damaged and none is whole.
    """
    last = folder / LAST_CHECKPOINT
    is_there = last.is_file()
    if is_there and is_whole(last):
        return ""
    updates = {
        path: updates_of(path) for path in sorted(folder.glob("*.pt")) if path != last and is_whole(path)
    }
    if not updates and not is_there:
        return ""
    if not updates:
        raise InputError(
            f"{last} is damaged, and there is no other whole checkpoint; remove {folder} to train from the "
            "beginning"
        )
    newest = max(updates, key=updates.__getitem__)
    with replacing(last) as file:
        file.write(newest.read_bytes())
    return (
        f"{last} is {'damaged' if is_there else 'not there'}; training goes on from {newest.name}, after "
        f"{updates[newest]} updates, and what came later is trained again"
    )


def trained_directions(state: Mapping[str, Any]) -> list[str]:
    """The directions that the model of a checkpoint was trained on; older ones name them among its options
    alone.
    """
    return state["task_state"].get(TRAINED) or list(state["cfg"]["task"].lang_pairs)


def updates_of(path: Path) -> int:
    """The updates after which a checkpoint was made."""
    return load_checkpoint(path)["optimizer_history"][-1]["num_updates"]


def write_checkpoint(state: dict, output: Path) -> None:
    """Write a checkpoint to `output`. An OSError, as of a full disk, names it.

    The checkpoint is made in memory first: `torch.save` turns an OSError of a file into a RuntimeError.
    """
    content = BytesIO()
    torch.save(state, content)
    with replacing(output) as file:
        file.write(content.getbuffer())


def average_checkpoints(paths: Sequence[Path], output: Path) -> None:
    """Write a checkpoint whose weights are the arithmetic mean of those in `paths`; of a training in which
    residuals come back, of those that have them back, if there are any, as the others are of another model.

    Sums are in float64; types stay as they are; options are those of the first that counts; the optimiser's
    state is left out. The model of a run gets new checksums (see `zsnmt.runs.checksums`). Raises `InputError`
    if the models differ in their parameters.
    """
    average: dict[str, Any] = {}
    sums: dict[str, Any] = {}
    used: list[Path] = []
    for path in paths:
        state = load_checkpoint(path)
        weights, before = state["model"], average.get("model", {})
        if used and shapes_of(weights) != shapes_of(before):
            raise InputError(
                f"{path} and {used[0]} hold different models; average checkpoints of one training only"
            )
        if switches(weights) < switches(before):
            continue
        if not used or switches(weights) > switches(before):
            average, sums, used = state, dict.fromkeys(weights, 0.0), []
        used.append(path)
        for name, weight in weights.items():
            sums[name] = sums[name] + weight.double()
    average["model"] = {
        name: (sums[name] / len(used)).to(weight.dtype) for name, weight in average["model"].items()
    }
    average["last_optimizer_state"] = None
    average["averaged"] = [path.name for path in used]
    with renew_checksums(output):
        write_checkpoint(average, output)
    logger.info("wrote the mean of %d checkpoints to %s", len(used), output)
    if earlier := len(paths) - len(used):
        logger.warning("%d of a time before a residual came back are left out", earlier)


def shapes_of(weights: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    """The shape of each weight."""
    return {name: weight.shape for name, weight in weights.items()}


def switches(weights: Mapping[str, Tensor]) -> list[float]:
    """Whether residuals have come back, 0 or 1 each, in the order of layers; empty where none does."""
    return [weight.item() for name, weight in weights.items() if is_switch(name)]
