"""Repairs of how a command of fairseq ends."""

import gc
import logging
import math
import signal
import sys
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.distributed import utils as distributed_utils
from fairseq.trainer import Trainer

from zsnmt.compatibility.checkpoints import counter
from zsnmt.console import ENDING, STOPPING
from zsnmt.errors import SAVED, InputError

logger = logging.getLogger(__name__)


def leave_the_others_at_the_end() -> None:
    """Make a process of several close its connections when all have done their work.

    fairseq leaves that to the end of Python, which may come while threads of gloo still run: C++ then aborts
    a training that has ended well.
    """
    stock_main = distributed_utils.distributed_main
    if hasattr(stock_main, "__wrapped__"):  # replaced before
        return

    @wraps(stock_main)
    def distributed_main(*arguments: Any) -> None:
        try:
            stock_main(*arguments)
        except SystemExit:  # it was told to end, as were the others
            leave_the_others()
            raise
        leave_the_others()

    distributed_utils.distributed_main = distributed_main


def leave_the_others() -> None:
    if torch.distributed.is_initialized():
        gc.collect()  # a model that adds up gradients must not outlive the connections
        torch.distributed.destroy_process_group()


def save_before_ending() -> None:
    """Make a training that is told to end, as by Ctrl-C or SIGTERM, finish its update and save where it is.

    fairseq ends at once: what came after the last checkpoint is trained again, where epochs are long for
    hours. Several processes end after the same update: they learn with its figures whether one was told.
    """
    module = sys.modules.get("fairseq_cli.train")
    stock_sum, stock_begin = Trainer._aggregate_logging_outputs, Trainer.begin_epoch
    if module is None or not is_fairseqs_command() or stock_begin.__module__ == __name__:
        return  # no training, or replaced before
    stock_save = module.validate_and_save
    told: list[int] = []  # the signals that this process was told by
    all_know = False  # whether one of several was told, which all have learnt

    def note(number: int, frame: object) -> None:
        told.append(number)
        if number == signal.SIGINT:  # a second one ends it at once
            signal.signal(number, signal.default_int_handler)

    def begin_epoch(self: Trainer, epoch: int) -> None:
        for number in STOPPING:
            # A command that runs in the background, or by nohup, ignores some of them.
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, note)
        stock_begin(self, epoch)

    def sum_up(self: Trainer, outputs: list[dict], *figures: Any, ignore: bool = False) -> tuple:
        nonlocal all_know
        outputs, (*sums, number_told) = stock_sum(self, outputs, *figures, len(told), ignore=ignore)
        all_know = all_know or number_told > 0
        return outputs, sums

    def validate_and_save(cfg: Any, trainer: Trainer, task: Any, place: Any, *rest: Any) -> tuple:
        losses, is_over = stock_save(cfg, trainer, task, place, *rest)
        if not is_over and (all_know if trainer.data_parallel_world_size > 1 else told):
            checkpoint_utils.save_checkpoint(cfg.checkpoint, trainer, place, None)
            if trainer.data_parallel_world_size > 1:  # none ends before the first has saved
                group = trainer.data_parallel_process_group
                distributed_utils.all_reduce_dict({"saved": 1}, trainer.device, group)
            logger.info(f"{SAVED} {trainer.get_num_updates()} updates")
            sys.exit(128 + (told or ENDING)[0])
        return losses, is_over

    begin_epoch.__module__ = __name__
    Trainer.begin_epoch, Trainer._aggregate_logging_outputs = begin_epoch, sum_up
    vars(module)["validate_and_save"] = validate_and_save


def train_no_further() -> None:
    """End a training at once that had come to its end before.

    Where it was stopped between its last save and the note that it is done, fairseq would train one more
    update beyond `--max-update`, or one more epoch where its patience was over.
    """
    module = sys.modules.get("fairseq_cli.train")
    if module is None or not is_fairseqs_command() or module.train.__module__ == __name__:
        return  # no training, or replaced before
    stock_train = module.train

    def train(cfg: Any, trainer: Trainer, task: Any, place: Any) -> tuple:
        patience, validations = cfg.checkpoint.patience, getattr(counter(), "num_runs", 0)
        if (
            trainer.get_num_updates() >= (cfg.optimization.max_update or math.inf)
            or 0 < patience <= validations
        ):
            logger.info("the training had come to its end before")
            return [None], True
        return stock_train(cfg, trainer, task, place)

    vars(module)["train"] = train


def is_fairseqs_command() -> bool:
    """Whether this process is a command of fairseq, such as fairseq-train."""
    return Path([*sys.argv, ""][0]).name.startswith("fairseq-")


def say_refusals_in_a_sentence() -> None:
    """End fairseq's commands with one line for what a person can mend, and not with a traceback."""
    stock_hook = sys.excepthook
    if not is_fairseqs_command() or stock_hook.__module__ == __name__:
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, InputError):
            print("error:", str(error).replace("\n", " "), file=sys.stderr)
        else:
            stock_hook(kind, error, trace)

    sys.excepthook = hook
