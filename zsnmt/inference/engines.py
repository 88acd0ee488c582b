"""Which engine translates, and how many batches at once."""

import fcntl
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from zsnmt.data.reading import Codec
from zsnmt.decoding.encode_once import EncodeOnce
from zsnmt.decoding.fairseq_engine import FairseqEngine, fairseq_options
from zsnmt.decoding.methods.engine import MethodEngine
from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.methods.vocabulary import PieceCounts, penalties
from zsnmt.decoding.options import AUTO, CTRANSLATE2, FAIRSEQ, FLOAT32, PYTORCH, EngineChoice
from zsnmt.decoding.pytorch_engine import PyTorchEngine, why_not_packed
from zsnmt.decoding.search import BatchEngine, Engine, Hypothesis, Search
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.inference.export.ctranslate2.engine import check_search
from zsnmt.inference.export.folder import describe_export, is_export
from zsnmt.inference.export.formats import load_format
from zsnmt.inference.export.run import export_folder, export_run
from zsnmt.inference.many_gpus import ManyGpus
from zsnmt.inference.trained_run import TrainedRun, load_run
from zsnmt.processes import map_in_processes
from zsnmt.runs.folder import MODEL_FILE

logger = logging.getLogger(__name__)

Opened = tuple[Engine, Codec]
CANNOT = (  # follows the name of an engine or a folder
    "cannot translate by {way}, which takes several sources or leaves out pieces; give a run folder whose "
    "model can be packed, and --engine pytorch"
)


def open_engine(folder: Path, search: Search = Search(), choice: EngineChoice = EngineChoice()) -> Opened:
    """The engine that translates with a run, or with its export, and what turns text into its input.

    A run is translated by one of `ENGINES`, `pytorch` unless another is chosen; an export by an engine of its
    format. Nothing is exported here. Raises `InputError` for a choice that does not go with the folder.
    """
    if is_export(folder):
        return open_export(folder, search, choice)
    return ENGINES[choice.engine or PYTORCH](folder, search, choice)


def open_export(folder: Path, search: Search, choice: EngineChoice) -> Opened:
    """The engine of an export's format."""
    record = describe_export(folder)
    export_format = load_format(record["format"])
    if choice.engine not in (None, AUTO, *export_format.engines):
        raise InputError(
            f"{folder} is an export to {record['format']}; give the run folder for --engine {choice.engine}"
        )
    if choice.precision not in (None, record["quantization"]):
        raise InputError(
            f"{folder} was exported in {record['quantization']}; leave out --precision {choice.precision}, "
            "or export the run so"
        )
    return export_format.open(folder, search, choice)


def open_present_export(run: Path, search: Search, choice: EngineChoice) -> Opened:
    """CTranslate2 with the export in a run folder; `InputError` if there is none of the run's present
    model.
    """
    quantization = choice.precision or FLOAT32
    folder = export_folder(run, CTRANSLATE2, quantization)
    if not is_present(folder, run):
        raise InputError(
            f"{run} has no up-to-date export to {CTRANSLATE2} in {quantization}; make it with "
            f"zsnmt export {run} --to {CTRANSLATE2} --quantization {quantization}"
        )
    return open_export(folder, search, choice)


def open_fastest(run: Path, search: Search, choice: EngineChoice) -> Opened:
    """CTranslate2 where it can translate with the run at once, else PyTorch, with a line that says why."""
    try:
        return open_present_export(run, search, choice)
    except (InputError, OSError) as error:
        logger.warning("PyTorch translates: %s", error)
        return open_pytorch(run, search, choice)


def open_pytorch(run: Path, search: Search, choice: EngineChoice) -> Opened:
    """The packed model, or fairseq's search where it cannot be packed."""
    trained = load_run(run)
    if choice.gpus == 1:
        return pytorch_engine(trained, search, choice), trained.codec
    engine = lone_engine(trained, search, choice)
    return ManyGpus(engine, partial(open_alone, run, search, choice), choice.gpus), trained.codec


def open_alone(
    run: Path,
    search: Search,
    choice: EngineChoice,
    method: Method | None = None,
    counts: PieceCounts | None = None,
) -> BatchEngine:
    """The engine of a run, or that of a method, in a process of its own."""
    trained = load_run(run)
    engine = lone_engine(trained, search, choice)
    return method_engine(engine, method, trained.codec, counts=counts) if method else engine


ENGINES: dict[str, Callable[[Path, Search, EngineChoice], Opened]] = {  # of a run
    AUTO: open_fastest,
    PYTORCH: open_pytorch,
    CTRANSLATE2: open_present_export,
    FAIRSEQ: open_pytorch,
}


def prepare_engine(folder: Path, search: Search, choice: EngineChoice) -> None:
    """Make what the chosen engine needs: for `ctranslate2`, export the run unless it has an up-to-date
    export.

    That takes seconds to minutes, and says so. `auto` takes an export that is there, and makes none.
    """
    if choice.engine != CTRANSLATE2 or is_export(folder):
        return
    check_search(search)
    if not (folder / MODEL_FILE).is_file():
        load_run(folder)  # says what is missing
    quantization = choice.precision or FLOAT32
    export = export_folder(folder, CTRANSLATE2, quantization)
    if is_present(export, folder):
        return
    try:
        with (folder / f".{export.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_present(export, folder):
                export_run(folder, export, to=CTRANSLATE2, quantization=quantization, replace=True)
    except OSError as error:
        raise InputError(
            f"{folder} cannot be exported into itself ({error}); make room or rights there, or export it "
            f"elsewhere with zsnmt export {folder} --to {CTRANSLATE2} --quantization {quantization} --output "
            "FOLDER"
        ) from error


def is_present(export: Path, run: Path) -> bool:
    """Whether a folder is an export of a run's present model."""
    return (
        is_export(export)
        and (run / MODEL_FILE).is_file()
        and describe_export(export)["model"] == sha256(run / MODEL_FILE)
    )


def pytorch_engine(trained: TrainedRun, search: Search, choice: EngineChoice) -> Engine:
    """fairseq's search, or that over the packed model; on a CPU by as many processes as there are workers."""
    engine = lone_engine(trained, search, choice)
    return (
        ManyProcesses(engine, choice.at_once)
        if choice.at_once > 1 and engine.device.type == "cpu"
        else engine
    )


def lone_engine(trained: TrainedRun, search: Search, choice: EngineChoice) -> FairseqEngine | PyTorchEngine:
    """The same, by one process."""
    model, reason = trained.model, why_not_packed(trained.model)
    precision = choice.precision or FLOAT32
    if choice.engine == FAIRSEQ or reason:
        if precision != FLOAT32:
            why = f", which this model needs, since {reason}" if reason else ""
            raise InputError(
                f"fairseq's search{why}, has no precision but float32; leave out --precision {precision}"
            )
        return FairseqEngine(
            model, trained.task.build_generator(EncodeOnce([model]), fairseq_options(search))
        )
    return PyTorchEngine(
        model, trained.codec.dictionary, trained.codec.languages, search=search, precision=precision
    )


def engine_with(engine: Engine, method: Method, codec: Codec, *, counts: PieceCounts | None = None) -> Engine:
    """An engine's model, searched by a method; masks need the `counts` of the pieces of each language.

    Raises `InputError` for an engine that has one source and no mask, and for a mask without counts.
    """
    alone = engine.engine if isinstance(engine, ManyProcesses | ManyGpus) else engine
    searching = method_engine(alone, method, codec, counts=counts)
    if isinstance(engine, ManyGpus):
        return ManyGpus(searching, partial(engine.opened, method=method, counts=counts), engine.gpus)
    return ManyProcesses(searching, engine.workers) if isinstance(engine, ManyProcesses) else searching


def method_engine(
    alone: Engine, method: Method, codec: Codec, *, counts: PieceCounts | None = None
) -> MethodEngine:
    """The same for the engine of one process."""
    if not isinstance(alone, PyTorchEngine):
        raise InputError(f"{alone.signature or 'the search of fairseq'} {CANNOT.format(way=method.name)}")
    masks = None
    if method.mask:
        if unknown := [language for language in codec.languages if language not in (counts or {})]:
            raise InputError(
                f"a mask needs the counts of pieces in the training text, and there are none of "
                f"{', '.join(unknown)}; count them with zsnmt count-pieces RUN, or translate without"
            )
        masks = penalties(method.mask, counts or {}, codec.dictionary)
    return MethodEngine(alone, method, masks)


def check_method(folder: Path, method: Method, choice: EngineChoice) -> None:
    """`InputError` for a method with an export, or with an engine that cannot, before anything is loaded."""
    if is_export(folder):
        raise InputError(f"{folder}, an export, {CANNOT.format(way=method.name)}")
    if choice.engine in (CTRANSLATE2, FAIRSEQ):
        raise InputError(f"--engine {choice.engine} {CANNOT.format(way=method.name)}")


class ManyProcesses:
    """An engine's work shared among processes of one thread each; they begin with the model that this one
    has loaded.
    """

    def __init__(self, engine: BatchEngine, workers: int) -> None:
        self.engine, self.workers, self.signature = engine, workers, engine.signature

    def translate(self, batches: Iterable[Sequence[Any]]) -> Iterator[list[list[Hypothesis]]]:
        batches = [*batches]
        workers = min(self.workers, len(batches))
        if workers < 2:
            return self.engine.translate(batches)
        return map_in_processes(self.translate_alone, batches, workers, together=1)

    def translate_alone(self, batch: Sequence[Any]) -> list[list[Hypothesis]]:
        """The hypotheses of a batch, by one thread: those of several processes would wait for each other."""
        torch.set_num_threads(1)
        return self.engine.translate_batch(batch)
