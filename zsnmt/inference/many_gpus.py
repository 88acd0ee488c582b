"""The batches of an engine dealt to processes that have a GPU each."""

import gc
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from multiprocessing import SimpleQueue, get_context
from time import process_time
from typing import Any, ClassVar

import torch

from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.search import Engine, Hypothesis, Search, Vocabulary, WrapperEngine
from zsnmt.processes import WorkerPool, add_used_seconds, end_with_parent, used_seconds
from zsnmt.text.piece_counts import PieceCounts

Batch = Sequence[Any]

process_engine: Engine  # of a process that translates
failure: Exception | None = None  # why it has none


class ManyGpus(WrapperEngine):
    """An engine whose batches go to so many processes, each with a GPU and the same model, `opened` there.

    They are begun when there is something to translate, and end by `end_processes`, or with this process.
    """

    begun: "ClassVar[list[ManyGpus]]" = []  # the engines whose processes there are

    def __init__(self, engine: Engine, opened: Callable[..., Engine], gpus: int) -> None:
        super().__init__(engine)
        self.opened, self.gpus = opened, gpus

    @cached_property
    def pool(self) -> WorkerPool:
        """The processes: new ones, since what has used a GPU cannot be copied (fork)."""
        ManyGpus.begun.append(self)
        context = get_context("spawn")
        numbers = context.SimpleQueue()
        for number in range(self.gpus):
            numbers.put(number)
        return WorkerPool(self.gpus, context, initializer=begin, initargs=(numbers, self.opened))

    def translate(self, batches: Iterable[Batch]) -> Iterator[list[list[Hypothesis]]]:
        """The hypotheses of each sentence of each batch, in their order."""
        batches = [*batches]
        if len(batches) < 2:
            return self.engine.translate(batches)
        return map(count_seconds, self.pool.map(translate_alone, batches))

    def by(
        self, method: Method, codec: Vocabulary, *, search: Search, counts: PieceCounts | None = None
    ) -> Engine:
        """What translates by a method, in a process for each GPU."""
        engine = self.engine.by(method, codec, search=search, counts=counts)
        return ManyGpus(engine, partial(self.opened, search=search, method=method, counts=counts), self.gpus)


def end_processes() -> None:
    """End the processes of all engines, when they have translated what they were given."""
    used = used_seconds()
    while ManyGpus.begun:
        vars(ManyGpus.begun.pop()).pop("pool").shutdown()
    add_used_seconds(used - used_seconds())  # what they told was counted, and now counts as of children


def free_gpus() -> None:
    """Give back the memory of GPUs that processes of engines have, and models that are no longer there."""
    end_processes()
    gc.collect()  # engines may refer to themselves
    torch.cuda.empty_cache()


def begin(numbers: SimpleQueue, opened: Callable[[], Engine]) -> None:
    """Load the model of this process onto the GPU of the next number; why that fails is told with the first
    batch.
    """
    global process_engine, failure
    end_with_parent()
    logging.disable()  # what loading says has been said
    torch.set_num_threads(1)
    if torch.cuda.is_available():
        torch.cuda.set_device(numbers.get())
    try:
        process_engine = opened()
    except Exception as error:
        failure = error


def translate_alone(batch: Batch) -> tuple[list[list[Hypothesis]], float]:
    """The hypotheses of a batch, and the seconds of processors that they took. Memory of the GPU that is not
    the model's is given back: the processes of another engine may be next.
    """
    if failure is not None:
        raise failure
    started = process_time()
    (hypotheses,) = process_engine.translate([batch])
    torch.cuda.empty_cache()
    return hypotheses, process_time() - started


def count_seconds(translated: tuple[list[list[Hypothesis]], float]) -> list[list[Hypothesis]]:
    """The hypotheses that a process found; what they took counts as used."""
    hypotheses, seconds = translated
    add_used_seconds(seconds)
    return hypotheses
