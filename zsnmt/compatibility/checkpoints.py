"""Repairs of what fairseq saves, and of how a training goes on from it."""

import inspect
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import torch
from fairseq import checkpoint_utils
from fairseq.file_io import PathManager
from fairseq.trainer import Trainer
from torch import nn

from zsnmt.errors import InputError, in_one_line
from zsnmt.files.checksums import check_archive

PATIENCE = "patience"  # of a checkpoint's extra state
LAST = "checkpoint_last"  # begins the name of the checkpoint that a new training does not have yet


def copy_checkpoints_whole() -> None:
    """Make fairseq's copies of a checkpoint appear whole or not at all.

    It writes a checkpoint once, safely, and copies it to its other names byte by byte: a process killed
    meanwhile leaves a truncated `checkpoint_last.pt`, from which training cannot go on.
    """

    def copy(src_path: str, dst_path: str, overwrite: bool = False) -> str:
        part = f"{dst_path}.part"
        shutil.copyfile(src_path, part)
        os.replace(part, dst_path)
        return dst_path

    PathManager.copy = staticmethod(copy)


def copy_checkpoints_without_assertions() -> None:
    """Make fairseq copy checkpoints where Python leaves assertions out (`-O`, PYTHONOPTIMIZE).

    It copies within an `assert`: there would be no checkpoint to go on from, and none to average.
    """
    if not __debug__:
        source, file = inspect.getsource(checkpoint_utils.save_checkpoint), checkpoint_utils.__file__
        exec(compile(source, file, "exec", optimize=0), vars(checkpoint_utils))


def give_tasks_their_state_back() -> None:
    """Let a task see its state in the checkpoint from which training goes on, which is to be there and
    undamaged.

    fairseq saves the state of the task, but reads it only for translation: nobody would notice that
    training goes on with other language tags, or other languages, than it began with. Nor that it begins
    anew, since there is no checkpoint of that name; or that it goes on with other weights, since PyTorch
    compares no checksums, or as another model, where options have no weights of their own
    (`check_same_model`).
    """
    stock_load = Trainer.load_checkpoint
    if stock_load.__module__ == __name__:  # replaced before
        return

    def load_checkpoint(
        self: Trainer, filename: str, reset_optimizer: bool = False, *args: object, **kwargs: object
    ) -> dict | None:
        if PathManager.isfile(filename):
            path = PathManager.get_local_path(filename)
            try:
                check_archive(Path(path))
                checkpoint = torch.load(path, map_location="cpu", mmap=is_zipfile(path))
            except Exception as error:  # torch raises many kinds
                raise InputError(
                    f"training cannot go on from {path} ({in_one_line(error)}); put a copy of another "
                    "checkpoint of its folder in its place, or remove it and start again"
                ) from error
            self.task.load_state_dict(checkpoint.get("task_state") or {})
            if not reset_optimizer:  # as a training does that begins with the weights of another
                check_same_model(self._model, checkpoint, self.cfg.model)
            before = processes_of(checkpoint)
        elif not Path(filename).name.startswith(LAST):
            raise InputError(
                f"there is no checkpoint {filename}, from which the training is to go on; give "
                "--restore-file a path that is there, or leave it out to begin"
            )
        try:
            state = stock_load(self, filename, reset_optimizer, *args, **kwargs)
        except Exception as error:  # fairseq raises no other kind for what does not fit
            check_fits(filename, error)
            raise
        if state and (place := state.get("train_iterator")):
            done = place.get("iterations_in_epoch", 0) * before
            place["iterations_in_epoch"] = done // self.data_parallel_world_size
        return state

    Trainer.load_checkpoint = load_checkpoint


def check_same_model(model: nn.Module, checkpoint: Mapping[str, Any], now: Namespace) -> None:
    """`InputError` where a training would go on with another value of the model's `SHAPING` options, which a
    checkpoint fits though the model is another one.
    """
    before = (checkpoint.get("cfg") or {}).get("model")
    for name in getattr(model, "SHAPING", ()):
        was, wanted = getattr(before, name, None), getattr(now, name, None)
        if hasattr(before, name) and was != wanted:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"the checkpoint's model was trained with {option} {was}, not {wanted}; go on with that, or "
                "train another model in another folder"
            )


def check_fits(filename: str, error: Exception) -> None:
    """`InputError` where fairseq could not load a checkpoint, with an error, since it is of another model, or
    of a training with another optimiser or criterion.
    """
    cause = error.__context__
    if isinstance(cause, InputError):  # fairseq raises its own in the place of whatever a model raises
        raise cause
    if cause and "model parameters" in str(error):
        raise InputError(
            f"the weights of {filename} are not those of the model that these options make "
            f"({in_one_line(cause)}); give the options of its training, or other weights"
        ) from error
    if isinstance(error, AssertionError) and "--reset-optimizer" in str(error):
        raise InputError(f"training cannot go on from {filename}: {in_one_line(error)}") from error


def processes_of(checkpoint: Mapping[str, Any]) -> int:
    """How many processes a checkpoint was trained by.

    fairseq counts the batches of an epoch that each process has done: a training that goes on with another
    number of processes would leave some out, or train on some twice.
    """
    options = checkpoint.get("cfg") or {}
    return (
        options["distributed_training"]["distributed_world_size"] if "distributed_training" in options else 1
    )


def count_patience_over_stops() -> None:
    """Keep what `--patience` counts in the checkpoints: the best loss, and the validations since then.

    fairseq keeps it in the process: a training that was stopped and goes on counts anew, so it ends later
    than it would have, and never if it is always stopped before.
    """
    stock_save, stock_load = Trainer.save_checkpoint, Trainer.load_checkpoint
    if stock_save.__module__ == __name__:  # replaced before
        return

    def save_checkpoint(self: Trainer, filename: str, extra_state: dict) -> str | None:
        patience = dict(vars(counter())) if counter() else {}
        return stock_save(self, filename, {**extra_state, PATIENCE: patience})

    def load_checkpoint(
        self: Trainer, filename: str, *args: object, reset_meters: bool = False, **kwargs: object
    ) -> dict | None:
        state = stock_load(self, filename, *args, reset_meters=reset_meters, **kwargs)
        if counted := counter():
            vars(counted).clear()  # what an earlier training of this process has left
            vars(counted).update({} if reset_meters else (state or {}).get(PATIENCE, {}))
        return state

    Trainer.save_checkpoint, Trainer.load_checkpoint = save_checkpoint, load_checkpoint


def counter() -> Callable[..., bool] | None:
    """The function whose attributes fairseq counts with; None where no training runs."""
    module = sys.modules.get("fairseq_cli.train")
    return module.should_stop_early if module else None


def choose_by_figures_of_the_task() -> None:
    """Let a figure that a task adds to those of validation, such as a BLEU, choose checkpoints.

    fairseq looks up the best value so far before the task has added its figures, and ends with a `KeyError`
    in the second validation.
    """
    module = sys.modules.get("fairseq_cli.train")
    if module is None or module.get_valid_stats.__module__ == __name__:
        return  # no training, or replaced before
    stock_stats = module.get_valid_stats

    def get_valid_stats(cfg: Any, trainer: Trainer, stats: dict, tracking_best: bool) -> dict:
        return stock_stats(
            cfg, trainer, stats, tracking_best and cfg.checkpoint.best_checkpoint_metric in stats
        )

    vars(module)["get_valid_stats"] = get_valid_stats
