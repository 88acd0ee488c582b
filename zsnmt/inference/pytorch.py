"""PyTorch as the engine of a run, by one process or by several."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from zsnmt.data.reading import Codec
from zsnmt.decoding.encode_once import EncodeOnce
from zsnmt.decoding.fairseq_engine import FairseqEngine, fairseq_options
from zsnmt.decoding.gpu_memory import holding_a_model
from zsnmt.decoding.likeness import why_not_alike
from zsnmt.decoding.methods.engine import ViewsEngine
from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.options import FAIRSEQ, FLOAT32, EngineChoice
from zsnmt.decoding.pytorch_engine import PyTorchEngine
from zsnmt.decoding.search import Engine, Hypothesis, Search, Vocabulary, WrapperEngine
from zsnmt.decoding.several_models import SeveralModels
from zsnmt.errors import InputError
from zsnmt.inference.many_gpus import ManyGpus
from zsnmt.inference.trained_run import TrainedRun, load_run
from zsnmt.languages import Direction
from zsnmt.processes import in_another_process, map_in_processes, share_kernels
from zsnmt.runs.several_models import Member, check_together
from zsnmt.text.piece_counts import PieceCounts

logger = logging.getLogger(__name__)


def open_run(run: Path, search: Search, choice: EngineChoice) -> tuple[Engine, Codec]:
    """The packed model, or fairseq's search where it cannot be packed."""
    trained = load_run(run)
    with holding_a_model():  # of which some weights are copied
        if choice.gpus == 1:
            return pytorch_engine(trained, search, choice), trained.codec
        engine = lone_engine(trained, search, choice)
    return ManyGpus(engine, partial(open_alone, run, choice, search=search), choice.gpus), trained.codec


def open_alone(
    run: Path,
    choice: EngineChoice,
    search: Search,
    method: Method | None = None,
    counts: PieceCounts | None = None,
) -> Engine:
    """The engine of a run, or that of a method, in a process of its own."""
    trained = load_run(run)
    with holding_a_model():
        engine = lone_engine(trained, search, choice)
    return engine.by(method, trained.codec, search=search, counts=counts) if method else engine


def pytorch_engine(trained: TrainedRun, search: Search, choice: EngineChoice) -> Engine:
    """fairseq's search, or that over the packed model; on a CPU by as many processes as there are workers."""
    engine = lone_engine(trained, search, choice)
    return (
        ManyProcesses(engine, choice.at_once)
        if choice.at_once > 1 and engine.device.type == "cpu"
        else engine
    )


def lone_engine(trained: TrainedRun, search: Search, choice: EngineChoice) -> ViewsEngine:
    """The engine of a trained run in one process: fairseq's search, that over the packed model, or that of
    several models.
    """
    if choice.beside:
        return several_models(trained, search, choice)
    model, chosen = trained.model, choice.engine == FAIRSEQ
    precision = choice.precision or FLOAT32
    reason = None if chosen else why_fairseq_searches(trained)
    if chosen or reason:
        if precision != FLOAT32:
            why = f", which this model needs, since {reason}" if reason else ""
            raise InputError(
                f"fairseq's search{why}, has no precision but float32; leave out --precision {precision}"
            )
        if reason:
            logger.warning(
                "%s is translated by fairseq's search, which is slower: %s", trained.folder, reason
            )
        generator = trained.task.build_generator(EncodeOnce([model]), fairseq_options(search))
        return FairseqEngine(model, generator, signature=FAIRSEQ if chosen else "")
    return packed_engine(trained, search, precision)


def why_fairseq_searches(trained: TrainedRun) -> str | None:
    """Why the model of a run is not packed, if it is not. On a CPU another process finds it: this one must
    not have multiplied before those begin that share its work.
    """
    codec, on_cpu = trained.codec, next(trained.model.parameters()).device.type == "cpu"

    def find() -> str | None:
        if on_cpu:
            torch.set_num_threads(1)
        return why_not_alike(trained.model, codec.dictionary, codec.languages, sources=codec.samples())

    return in_another_process(find) if on_cpu else find()


def several_models(trained: TrainedRun, search: Search, choice: EngineChoice) -> SeveralModels:
    """A run's model and those beside it, packed; `InputError` where they cannot translate together."""
    runs = [trained, *map(load_run, choice.beside)]
    check_together(
        [
            Member(each.folder, each.checksum, each.codec.placement.name, longest=each.codec.longest)
            for each in runs
        ]
    )
    for each in runs:
        if reason := why_fairseq_searches(each):
            raise InputError(
                f"{each.folder} cannot translate together with others, since {reason}; leave it out"
            )
    return SeveralModels(
        [packed_engine(each, search, choice.precision or FLOAT32) for each in runs],
        trained={str(each.folder): each.codec.trained for each in runs},
    )


def warn_of_untrained(engine: Engine, directions: Iterable[Direction]) -> None:
    """Name the runs of several that translate together which were not trained on a direction that others of
    them were trained on.
    """
    for direction in directions:
        without = [run for run, of_run in engine.trained.items() if direction not in of_run]
        if 0 < len(without) < len(engine.trained):
            logger.warning(
                "%s was not trained on %s, as the others were that it translates together with; compare with "
                "their translations without it",
                " and ".join(without),
                direction,
            )


def packed_engine(trained: TrainedRun, search: Search, precision: str) -> PyTorchEngine:
    """The search over a run's packed model."""
    codec = trained.codec
    return PyTorchEngine(trained.model, codec.dictionary, codec.languages, search=search, precision=precision)


class ManyProcesses(WrapperEngine):
    """An engine's work shared among processes of one thread each; they begin with the model that this one
    has loaded, and end with each text. So what they used is counted at once (`used_seconds`), and the kernels
    of one engine do not wait in memory for those of another; kept, they would save 1 to 8 % of the time.
    """

    def __init__(self, engine: Engine, workers: int) -> None:
        super().__init__(engine)
        self.workers = workers

    def translate(self, batches: Iterable[Sequence[Any]]) -> Iterator[list[list[Hypothesis]]]:
        batches = [*batches]
        workers = min(self.workers, len(batches))
        if workers < 2:
            return self.engine.translate(batches)
        return map_in_processes(self.translate_alone, batches, workers, together=1)

    def translate_alone(self, batch: Sequence[Any]) -> list[list[Hypothesis]]:
        """The hypotheses of a batch, by one thread: those of several processes would wait for each other. The
        processes share the memory for kernels, if this one has not multiplied before they began.
        """
        torch.set_num_threads(1)
        share_kernels(os.environ, workers=self.workers)
        (hypotheses,) = self.engine.translate([batch])
        return hypotheses

    def by(
        self, method: Method, codec: Vocabulary, *, search: Search, counts: PieceCounts | None = None
    ) -> Engine:
        """What translates by a method, in as many processes."""
        return ManyProcesses(self.engine.by(method, codec, search=search, counts=counts), self.workers)


def keep_in_process(engine: Engine, threads: int | None) -> Engine:
    """The engine without processes of its own, which one that has threads must not start; PyTorch computes
    with so many threads, by default with those of `OMP_NUM_THREADS`, or one for each core.
    """
    if threads:
        torch.set_num_threads(threads)
    return engine.engine if isinstance(engine, ManyProcesses) else engine
