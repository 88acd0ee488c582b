"""Which engine translates, and how many batches at once."""

import fcntl
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import torch

from zsnmt.decoding.encode_once import EncodeOnce
from zsnmt.decoding.fairseq_engine import FairseqEngine, fairseq_options
from zsnmt.decoding.options import AUTO, CTRANSLATE2, FAIRSEQ, FLOAT32, PYTORCH, EngineChoice
from zsnmt.decoding.pytorch_engine import PyTorchEngine, why_not_packed
from zsnmt.decoding.search import Engine, Hypothesis, Search, Sentence
from zsnmt.errors import InputError
from zsnmt.files import sha256
from zsnmt.inference.export.ctranslate2.self_check import open_export
from zsnmt.inference.export.folder import describe_export, is_export
from zsnmt.inference.export.run import export_run
from zsnmt.inference.trained_run import Knowledge, TrainedRun, load_run
from zsnmt.processes import map_in_processes
from zsnmt.runs.folder import MODEL_FILE

logger = logging.getLogger(__name__)


def open_engine(folder: Path, search: Search, choice: EngineChoice = EngineChoice()) -> tuple[Engine, Knowledge]:
    """The engine that translates with a run, or with its export, and what it knows.

    `pytorch` packs the model (see `zsnmt.decoding`), or searches with `fairseq` where it cannot be packed. `ctranslate2` takes the
    export in the run folder, and makes it if there is none of the present model; `auto` does so too, unless CTranslate2
    is not installed, or does not know the model or the search: then it is `pytorch`, with a line that says why.
    """
    if is_export(folder):
        if choice.engine in (PYTORCH, FAIRSEQ):
            raise InputError(f"{folder} is an export for CTranslate2; give the run folder for --engine {choice.engine}")
        made = describe_export(folder)["quantization"]
        if choice.precision not in (None, made):
            raise InputError(f"{folder} was exported in {made}; leave out --precision {choice.precision}, or export the run so")
        engine = open_export(folder, search, workers(choice))
        return engine, engine.known
    if choice.engine in (AUTO, CTRANSLATE2):
        try:
            engine = open_export(present_export(folder, choice.precision or FLOAT32), search, workers(choice))
            return engine, engine.known
        except InputError as error:
            if choice.engine == CTRANSLATE2:
                raise
            logger.warning("PyTorch translates: %s", error)
    trained = load_run(folder)
    return pytorch_engine(trained, search, choice), trained.known


def present_export(run: Path, precision: str) -> Path:
    """The export of a run's model in its folder, made now if there is none."""
    folder = run / f"{CTRANSLATE2}-{precision}"
    if not (run / MODEL_FILE).is_file():
        load_run(run)  # says what is missing
    with (run / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_export(folder) or describe_export(folder)["model"] != sha256(run / MODEL_FILE):
            export_run(run, folder, precision, replace=True)
    return folder


def pytorch_engine(trained: TrainedRun, search: Search, choice: EngineChoice) -> Engine:
    """fairseq's search, or that over the packed model; on a CPU by as many processes as there are workers."""
    model, reason = trained.model, why_not_packed(trained.model)
    precision = choice.precision or FLOAT32
    if choice.engine == FAIRSEQ or reason:
        if precision != FLOAT32:
            why = f", which this model needs, since {reason}" if reason else ""
            raise InputError(f"fairseq's search{why}, has no precision but float32; leave out --precision {precision}")
        engine = FairseqEngine(model, trained.task.build_generator(EncodeOnce([model]), fairseq_options(search)))
    else:
        engine = PyTorchEngine(model, trained.known.dictionary, trained.known.languages, search, precision)
    number = workers(choice)
    return ManyProcesses(engine, number) if number > 1 and engine.device.type == "cpu" else engine


def workers(choice: EngineChoice) -> int:
    """How many batches are translated at once: one for each core that this process may use, unless chosen."""
    return choice.workers or len(os.sched_getaffinity(0))


class ManyProcesses:
    """An engine's work shared among processes of one thread each; they begin with the model that this one has loaded."""

    def __init__(self, engine: PyTorchEngine | FairseqEngine, workers: int) -> None:
        self.engine, self.workers, self.signature = engine, workers, engine.signature

    def translate(self, batches: Iterable[Sequence[Sentence]]) -> Iterator[list[list[Hypothesis]]]:
        batches = [*batches]
        workers = min(self.workers, len(batches))
        if workers < 2:
            return self.engine.translate(batches)
        return map_in_processes(self.translate_alone, batches, workers, together=1)

    def translate_alone(self, batch: Sequence[Sentence]) -> list[list[Hypothesis]]:
        """The hypotheses of a batch, by one thread: those of several processes would wait for each other."""
        torch.set_num_threads(1)
        return self.engine.translate_batch(batch)
