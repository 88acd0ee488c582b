"""Which engine translates a folder. PyTorch is loaded for what needs it: an export is opened without."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt.data.reading import Codec
from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.options import (
    AUTO,
    CTRANSLATE2,
    FAIRSEQ,
    FLOAT16,
    FLOAT32,
    GPU_MEMORY_OF_A_BATCH,
    LARGER_ON_A_GPU,
    PYTORCH,
    EngineChoice,
)
from zsnmt.decoding.search import METHOD_REFUSAL, Engine, Search
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.locks import locked
from zsnmt.inference.export.ctranslate2.engine import check_search
from zsnmt.inference.export.ctranslate2.mask import is_known
from zsnmt.inference.export.folder import checksum, describe_export, export_folder, is_export
from zsnmt.inference.export.formats import load_format
from zsnmt.runs.commands import verb_command
from zsnmt.runs.folder import MODEL_FILE

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)

EngineAndCodec = tuple[Engine, Codec]


def open_engine(
    folder: Path, search: Search = Search(), choice: EngineChoice = EngineChoice()
) -> EngineAndCodec:
    """The engine that translates with a run, or with its export, and what turns text into its input.

    A run is translated by one of `OPENERS`, `pytorch` unless another is chosen; an export by an engine of its
    format. Nothing is exported here. Raises `InputError` for a choice that does not go with the folder.
    """
    if is_export(folder):
        return open_export(folder, search, choice)
    return OPENERS[choice.engine or PYTORCH](folder, search, choice)


def open_export(folder: Path, search: Search, choice: EngineChoice) -> EngineAndCodec:
    """The engine of an export's format."""
    if choice.beside:
        raise InputError(f"{folder} is an export, which translates alone; give the run, or leave out --with")
    if choice.gpus > 1:
        raise InputError(f"{folder} is an export, which shares no work among GPUs; give the run, or --gpus 1")
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


def open_present_export(run: Path, search: Search, choice: EngineChoice) -> EngineAndCodec:
    """CTranslate2 with the export in a run folder; `InputError` if there is none of the run's present
    model.
    """
    quantization = quantization_of(choice)
    folder = export_folder(run, CTRANSLATE2, quantization)
    if not is_present(folder, run):
        raise InputError(
            f"{run} has no up-to-date export to {CTRANSLATE2} in {quantization}; make it with "
            + verb_command("export", run, "--to", CTRANSLATE2, "--quantization", quantization)
        )
    return open_export(folder, search, choice)


def quantization_of(choice: EngineChoice) -> str:
    """That of a run's export for CTranslate2, which is run on CPUs; `InputError` for a precision of GPUs."""
    if choice.precision == FLOAT16:
        raise InputError(
            f"--precision {FLOAT16} of a run is for --engine {PYTORCH}; leave out --engine {choice.engine}, "
            f"or translate with an export by --quantization {FLOAT16}"
        )
    return choice.precision or FLOAT32


def open_fastest(run: Path, search: Search, choice: EngineChoice) -> EngineAndCodec:
    """CTranslate2 where it can translate with the run at once, else PyTorch, with a line that says why."""
    if choice.beside or choice.precision == FLOAT16:  # by which PyTorch alone translates
        return open_pytorch(run, search, choice)
    try:
        return open_present_export(run, search, choice)
    except (InputError, OSError) as error:
        logger.warning("PyTorch translates: %s", error)
        return open_pytorch(run, search, choice)


def open_pytorch(run: Path, search: Search, choice: EngineChoice) -> EngineAndCodec:
    """PyTorch, which is loaded here, and fairseq with it."""
    from zsnmt.inference.pytorch import open_run

    return open_run(run, search, choice)


def gpu_of(engine: Engine) -> "torch.device | None":
    """The device of an engine that translates on a GPU, None on a CPU."""
    return None if engine.device is None or engine.device.type == "cpu" else engine.device


def larger_batches(engine: Engine) -> int:
    """How many times as large as on a CPU batches are: on a GPU, by the memory that is free."""
    if (gpu := gpu_of(engine)) is None:
        return 1
    import torch

    free, _ = torch.cuda.mem_get_info(gpu)
    models, beam = engine.models, engine.search.beam
    return max(1, min(LARGER_ON_A_GPU, int(free * Search.beam / (GPU_MEMORY_OF_A_BATCH * models * beam))))


OPENERS: dict[str, Callable[[Path, Search, EngineChoice], EngineAndCodec]] = {  # by the engine of a run
    AUTO: open_fastest,
    PYTORCH: open_pytorch,
    CTRANSLATE2: open_present_export,
    FAIRSEQ: open_pytorch,
}


def prepare_engine(folder: Path, search: Search, choice: EngineChoice, *, text: Path | None = None) -> None:
    """Make what the chosen engine needs: for `ctranslate2`, export the run unless it has an up-to-date
    export, which is checked on the test set in `text`, by default the run's own.

    That takes seconds to minutes, and says so. `auto` takes an export that is there, and makes none.
    """
    if choice.engine != CTRANSLATE2 or is_export(folder):
        return
    check_search(search)
    if not (folder / MODEL_FILE).is_file():
        open_pytorch(folder, search, choice)  # says what is missing
    quantization = quantization_of(choice)
    export = export_folder(folder, CTRANSLATE2, quantization)
    if is_present(export, folder):
        return
    from zsnmt.inference.export.run import export_run

    try:
        with locked(folder, logger.warning, name=f".{export.name}.lock"):
            if not is_present(export, folder):
                export_run(folder, export, to=CTRANSLATE2, quantization=quantization, text=text, replace=True)
    except OSError as error:
        command = ["--to", CTRANSLATE2, "--quantization", quantization, "--output", "FOLDER"]
        raise InputError(
            f"{folder} cannot be exported into itself ({error}); make room or rights there, or export it "
            f"elsewhere with {verb_command('export', folder, *command)}"
        ) from error


def is_present(export: Path, run: Path) -> bool:
    """Whether a folder is an export of a run's present model."""
    return (
        is_export(export)
        and (run / MODEL_FILE).is_file()
        and describe_export(export)["model"] == sha256(run / MODEL_FILE)
    )


def model_checksum(folder: Path) -> str:
    """That of a run's model, or of what an export says of all its files."""
    return checksum(describe_export(folder)) if is_export(folder) else sha256(folder / MODEL_FILE)


def engine_for(folder: Path, methods: Iterable[Method], choice: EngineChoice) -> EngineChoice:
    """The engine that translates by all of some methods: PyTorch for `auto` where CTranslate2 cannot.

    `InputError` for a method with an export, or with an engine, that cannot, before anything is loaded.
    """
    for method in methods:
        check_method(folder, method, choice)
        if choice.engine == AUTO and not is_export(folder) and not is_known(method):
            choice = replace(choice, engine=PYTORCH)
    if choice.engine == AUTO and choice.precision == FLOAT16 and not is_export(folder):
        return replace(choice, engine=PYTORCH)
    return choice


def check_method(folder: Path, method: Method, choice: EngineChoice) -> None:
    """`InputError` for a method with an export, or with an engine, that cannot."""
    if is_export(folder):
        if not (is_known(method) and describe_export(folder)["format"] == CTRANSLATE2):
            raise InputError(f"{folder}, an export, {METHOD_REFUSAL.format(way=method.name)}")
    elif choice.engine == CTRANSLATE2 and not is_known(method):
        raise InputError(f"--engine {choice.engine} {METHOD_REFUSAL.format(way=method.name)}")
