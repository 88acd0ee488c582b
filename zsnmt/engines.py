"""Which engine translates, and with how many processes."""

import logging
import os
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import torch

from zsnmt.decoding.engine import PyTorchEngine, why_not_packed
from zsnmt.decoding.fairseq_engine import FairseqEngine
from zsnmt.decoding.linear import FLOAT32
from zsnmt.decoding.search import Engine, Hypothesis, Search, Sentence
from zsnmt.errors import InputError
from zsnmt.modules.encode_once import EncodeOnce
from zsnmt.runs import MODEL_FILE
from zsnmt.text.parallel import map_in_processes
from zsnmt.trained_run import Knowledge, TrainedRun, load_run

logger = logging.getLogger(__name__)

AUTO, PYTORCH, CTRANSLATE2, FAIRSEQ = ENGINES = ("auto", "pytorch", "ctranslate2", "fairseq")


def open_engine(
    run: Path, search: Search, engine: str = PYTORCH, precision: str = FLOAT32, workers: int | None = None, checkpoint: str = MODEL_FILE
) -> tuple[Engine, Knowledge]:
    """The engine that translates with a run, and what it knows.

    `pytorch` packs the model (see `zsnmt.decoding`); a model that cannot be packed is searched by `fairseq`. `workers`:
    processes of one thread each on a CPU, by default one for each core.
    """
    trained = load_run(run, checkpoint)
    return pytorch_engine(trained, search, engine, precision, workers), trained.known


def pytorch_engine(trained: TrainedRun, search: Search, engine: str, precision: str, workers: int | None) -> Engine:
    """fairseq's search, or that over the packed model, by so many processes."""
    model, task = trained.model, trained.task
    if engine == FAIRSEQ or (reason := why_not_packed(model)):
        if precision != FLOAT32:
            raise InputError(f"fairseq's search has no precision {precision}" + (f", and the model needs it, since {reason}" * (engine != FAIRSEQ)))
        options = Namespace(
            beam=search.beam, lenpen=search.length_penalty, length_penalty_form=search.length_penalty_form,
            max_len_a=search.max_len_a, max_len_b=search.max_len_b,
        )  # fmt: skip
        found = FairseqEngine(model, task.build_generator(EncodeOnce([model]), options))
    else:
        found = PyTorchEngine(model, trained.known.dictionary, trained.known.languages, search, precision)
    on_gpu = found.device.type == "cuda"
    workers = 1 if on_gpu else cores() if workers is None else workers
    return found if workers == 1 else ManyProcesses(found, workers)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


class ManyProcesses:
    """An engine's work shared among processes of one thread each; they begin with the model that this one has loaded."""

    def __init__(self, engine: PyTorchEngine | FairseqEngine, workers: int) -> None:
        self.engine, self.workers = engine, workers

    def translate(self, batches: Iterable[Sequence[Sentence]]) -> Iterator[list[list[Hypothesis]]]:
        batches = [*batches]
        workers = min(self.workers, len(batches))
        if workers < 2:
            return self.engine.translate(batches)
        return map_in_processes(self.translate_alone, batches, workers, together=1)

    def translate_alone(self, batch: Sequence[Sentence]) -> list[list[Hypothesis]]:
        torch.set_num_threads(1)
        return self.engine.translate_batch(batch)
