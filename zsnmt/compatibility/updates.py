"""Repairs of a training's updates: what they count, and what they need not wait for."""

import bisect
from collections import OrderedDict
from collections.abc import Sequence
from functools import wraps
from weakref import WeakSet

import torch
from fairseq.data import indexed_dataset
from fairseq.logging.meters import Meter, MetersDict
from fairseq.trainer import Trainer


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


def make_no_batches_beforehand() -> None:
    """Have the batches of validation made when it validates.

    fairseq makes all of them before the first update, too, and keeps none: with a validation set for each of
    2,450 directions that is half of the time until then.
    """
    stock_iterator, stock_begin = Trainer.get_valid_iterator, Trainer.begin_valid_epoch
    if stock_iterator.__module__ == __name__:  # replaced before
        return
    validating = WeakSet[Trainer]()  # those that have begun to

    @wraps(stock_begin)
    def begin_valid_epoch(self: Trainer, epoch: int) -> None:
        validating.add(self)
        stock_begin(self, epoch)

    @wraps(stock_iterator)
    def get_valid_iterator(self: Trainer, *args: object, **kwargs: object) -> object:
        batches = stock_iterator(self, *args, **kwargs)  # which looks for sentences that are too long
        return batches if self in validating else NoBatches()

    get_valid_iterator.__module__ = __name__
    Trainer.begin_valid_epoch, Trainer.get_valid_iterator = begin_valid_epoch, get_valid_iterator


class NoBatches:
    """In the place of fairseq's iterator of epochs, one of no batches."""

    def next_epoch_itr(self, **_: object) -> tuple[()]:
        return ()


def prepare_no_attention_for_each_shape() -> None:
    """Have attention in half precision on a GPU computed by kernels that take any shape.

    On Hopper GPUs PyTorch prefers cuDNN's, which prepares itself for each shape that it has not met before,
    and batches by length have hundreds of shapes: updates of the first epoch take twice as long or longer.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)
