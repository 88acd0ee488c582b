"""What current PyTorch and the maintained fork of fairseq (0.12.3.1) need from each other.

Each function is one repair: its docstring says what breaks without it, and
tests/test_compatibility.py holds a test that fails without it. Importing this module applies all.
"""

import argparse
import ast
import bisect
import gc
import inspect
import logging
import math
import os
import shutil
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any
from zipfile import is_zipfile

import torch
from fairseq import checkpoint_utils
from fairseq.data import indexed_dataset
from fairseq.distributed import utils as distributed_utils
from fairseq.file_io import PathManager
from fairseq.logging.meters import Meter, MetersDict
from fairseq.models.transformer import transformer_config
from fairseq.trainer import Trainer

from zsnmt.console import ENDING, STOPPING
from zsnmt.errors import SAVED, InputError
from zsnmt.files.checksums import check_archive

logger = logging.getLogger(__name__)

PATIENCE = "patience"  # of a checkpoint's extra state

VALUES = (
    ast.Expression,
    *(ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Load),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.UnaryOp, ast.USub, ast.UAdd),
)  # of an expression that computes with nothing but what it spells


def allow_namespaces_in_checkpoints() -> None:
    """Let PyTorch >= 2.6 read the options in fairseq's checkpoints, and nothing else.

    fairseq saves an `argparse.Namespace`, which `torch.load` refuses by default. Naming that one
    harmless class keeps loading safe: a checkpoint that carries code is still refused.
    """
    torch.serialization.add_safe_globals([argparse.Namespace])


def read_options_without_running_them() -> None:
    """Make fairseq take `(0.9, 0.98)` or `[(512, 3)] * 20` in an option for the value that it spells.

    It evaluates such options as Python, those in a checkpoint too: a checkpoint or a config from a stranger
    would run any code.
    """
    for name, module in [*sys.modules.items()]:
        if name.startswith("fairseq."):
            vars(module)["eval"] = value_of


def value_of(text: str) -> object:
    """The value of an expression of numbers, words and lists; `InputError` for one that does more.

    What is no string is a TypeError, as of Python's `eval`, on which fairseq relies.
    """
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is not a string")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        tree = None
    if tree is None or not all(isinstance(node, VALUES) for node in ast.walk(tree)):
        raise InputError(
            f"the option '{text}' is not a value; give a number, a word in quotes, or a list like (0.9,0.98)"
        )
    return eval(compile(tree, "an option", "eval"))


def give_each_transformer_its_own_options() -> None:
    """Make `TransformerConfig()` hold its own encoder, decoder and noise options.

    The fork writes `default=EncDecBaseConfig`, the class where an instance is meant: setting
    `config.encoder.layers` on one configuration would set it for every other one in the process.
    """
    stock_init = transformer_config.TransformerConfig.__init__
    if stock_init.__module__ == __name__:  # replaced before
        return

    def init(self: transformer_config.TransformerConfig, *args: object, **kwargs: object) -> None:
        stock_init(self, *args, **kwargs)
        for name in ("encoder", "decoder", "quant_noise"):
            if isinstance(getattr(self, name), type):
                setattr(self, name, getattr(self, name)())

    transformer_config.TransformerConfig.__init__ = init


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
    """Let a task see its state in the checkpoint from which training goes on, which is to be undamaged.

    fairseq saves the state of the task, but reads it only for translation: nobody would notice that
    training goes on with other language tags, or other languages, than it began with. Nor that it goes on
    with other weights, since PyTorch compares no checksums.
    """
    stock_load = Trainer.load_checkpoint
    if stock_load.__module__ == __name__:  # replaced before
        return

    def load_checkpoint(self: Trainer, filename: str, *args: object, **kwargs: object) -> dict | None:
        if PathManager.isfile(filename):
            path = PathManager.get_local_path(filename)
            try:
                check_archive(Path(path))
                checkpoint = torch.load(path, map_location="cpu", mmap=is_zipfile(path))
            except Exception as error:  # torch raises many kinds
                reason = " ".join(str(error).split())[:200]
                raise InputError(
                    f"training cannot go on from {path} ({reason}); put a copy of another checkpoint of its "
                    "folder in its place, or remove it and start again"
                ) from error
            self.task.load_state_dict(checkpoint.get("task_state") or {})
            before = processes_of(checkpoint)
        state = stock_load(self, filename, *args, **kwargs)
        if state and (place := state.get("train_iterator")):
            done = place.get("iterations_in_epoch", 0) * before
            place["iterations_in_epoch"] = done // self.data_parallel_world_size
        return state

    Trainer.load_checkpoint = load_checkpoint


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


def processes_of(checkpoint: Mapping[str, Any]) -> int:
    """How many processes a checkpoint was trained by.

    fairseq counts the batches of an epoch that each process has done: a training that goes on with another
    number of processes would leave some out, or train on some twice.
    """
    options = checkpoint.get("cfg") or {}
    return (
        options["distributed_training"]["distributed_world_size"] if "distributed_training" in options else 1
    )


def count_batches_beside_empty_ones() -> None:
    """Make a process whose part of an epoch's last update is smaller than others' count what it has.

    fairseq gives it an empty batch instead; where that comes last, it takes the batches before it for empty,
    too: their gradients are added up, but divided by the tokens of other processes alone.
    """
    stock_step = Trainer.train_step
    if stock_step.__module__ == __name__:  # replaced before
        return

    @wraps(stock_step)
    def train_step(self: Trainer, samples: Sequence[dict], *args: object, **kwargs: object) -> dict | None:
        return stock_step(self, [sample for sample in samples if sample] or samples[:1], *args, **kwargs)

    train_step.__module__ = __name__
    Trainer.train_step = train_step


def move_only_meters_behind_a_new_one() -> None:
    """Make a figure that is new in a log move those that come behind it, and no others.

    fairseq moves all that there are: where validation has a loss and a BLEU for each of 2,450 directions,
    that is a sixth of its time.
    """

    def __setitem__(self: MetersDict, key: str, value: tuple[int, Meter]) -> None:
        assert key not in self, "MetersDict doesn't support reassignment"
        priority, meter = value
        entry = (priority, len(self.priorities), key)
        place = bisect.bisect_right(self.priorities, entry)
        self.priorities.insert(place, entry)
        OrderedDict.__setitem__(self, key, meter)
        for _, _, behind in self.priorities[place + 1 :]:
            self.move_to_end(behind)

    MetersDict.__setitem__ = __setitem__


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


def leave_the_compiler_unloaded() -> None:
    """Let an optimizer be made and saved without PyTorch's compiler.

    Some of its methods keep themselves out of compiled code, and the first call of one loads the compiler for
    that: a second at the start of each training, which compiles nothing.
    """
    for method in vars(torch.optim.Optimizer).values():
        if stock := getattr(method, "__wrapped__", None):
            vars(stock).setdefault("__dynamo_disable", stock)


def read_no_text_beforehand() -> None:
    """Have binarised text read as far as batches need it.

    fairseq reads a file whole when it opens it: each process of a training all text, once for each direction.
    """
    vars(indexed_dataset)["_warmup_mmap_file"] = lambda path: None


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


allow_namespaces_in_checkpoints()
read_options_without_running_them()
give_each_transformer_its_own_options()
copy_checkpoints_whole()
copy_checkpoints_without_assertions()
give_tasks_their_state_back()
count_patience_over_stops()
count_batches_beside_empty_ones()
move_only_meters_behind_a_new_one()
leave_the_others_at_the_end()
save_before_ending()
train_no_further()
leave_the_compiler_unloaded()
read_no_text_beforehand()
say_refusals_in_a_sentence()
