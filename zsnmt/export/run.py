"""From a run folder to an export that was found to translate as the run does."""

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from fairseq.models import BaseFairseqModel

from zsnmt.decoding.choice import FLOAT32
from zsnmt.decoding.fairseq_engine import FairseqEngine, fairseq_options
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.export.check import LEAST, Agreement, Sample, check_exact, check_noise, differences, samples, stock_model
from zsnmt.export.engine import CTranslate2Engine
from zsnmt.export.folder import EXPORT_FILE, checksums, needed
from zsnmt.export.library import ctranslate2
from zsnmt.export.refusals import check_exportable
from zsnmt.export.specification import specification
from zsnmt.files import new_folder, replacing_folder, sha256, write_json
from zsnmt.runs import MODEL_FILE, PIPELINE_FOLDER, describe_run, versions
from zsnmt.trained_run import TrainedRun, load_run

logger = logging.getLogger(__name__)

STOCK = "stock"  # among agreements, that of a stock model


def export_run(
    run: Path,
    output: Path | None = None,
    quantization: str = FLOAT32,
    text: Path | None = None,
    sentences: int = 100,
    replace: bool = False,
) -> tuple[Path, dict[str, Agreement]]:
    """Export a run's averaged checkpoint into a folder, RUN/ctranslate2-QUANTIZATION by default, which is new unless `replace`.

    It is compared with PyTorch on so many sentences, or a few more, of the test set in `text`, the run's own by default: in
    float32, where it has to agree, and quantised, where it has to be as near as a stock model. Returns the folder and how
    far they agree. Raises `InputError` for a model that CTranslate2 cannot run exactly, for too little text, and for
    an export that fails; then what was there before stays.
    """
    if sentences < LEAST:
        raise InputError(f"--sentences is {sentences}; an export is checked on {LEAST} or more")
    ctranslate2()  # refused before anything is read
    record, output = describe_run(run), output or run / f"ctranslate2-{quantization}"
    with (replacing_folder if replace else new_folder)(output) as part:
        trained = load_run(run)
        trained.model.to("cpu")
        check_exportable(trained.model, quantization)
        longest = min(trained.codec.longest, trained.model.max_decoder_positions())
        chosen = samples(trained.codec, text or Path(record["text"]), sentences, longest)
        logger.warning("exporting %s into %s, and checking it on %d sentences", run, output, len(chosen))
        record = export_record(run, record, trained, quantization)
        agreements = checked(part, run, trained, record, chosen)
        figures = {name: agreement._asdict() for name, agreement in agreements.items()}
        write_json(part / EXPORT_FILE, record | {"files": checksums(part), "check": {"sentences": len(chosen), **figures}})
    return output, agreements


def export_record(run: Path, record: dict, trained: TrainedRun, quantization: str) -> dict:
    """What an export says of itself, by the record of its run."""
    return {
        **needed(trained.codec, quantization, trained.model.max_decoder_positions()),
        "run": record,
        "model": sha256(run / MODEL_FILE),
        "versions": versions() | {"ctranslate2": ctranslate2().__version__},
    }


def checked(part: Path, run: Path, trained: TrainedRun, record: dict, chosen: Sequence[Sample]) -> dict[str, Agreement]:
    """Write an export into a folder, and how far it agrees with its run.

    A quantised one is written in float32 before, for what quantisation does not explain, and so is a stock model, quantised
    alike, for how much it explains.
    """
    model, quantization, search = trained.model, record["quantization"], Search()
    reference = FairseqEngine(model, trained.task.build_generator([model], fairseq_options(search)))

    def written(folder: Path, model: BaseFairseqModel, quantization: str) -> CTranslate2Engine:
        folder.mkdir(exist_ok=True)
        write_model(folder, model, trained.codec.dictionary.symbols, quantization)
        shutil.copytree(run / PIPELINE_FOLDER, folder / PIPELINE_FOLDER)
        write_json(folder / EXPORT_FILE, record | {"files": checksums(folder)})
        return CTranslate2Engine(folder, search)

    if quantization == FLOAT32:
        return {FLOAT32: check_exact(model, reference, written(part, model, FLOAT32), chosen)}
    with TemporaryDirectory(dir=part) as beside:
        exact = check_exact(model, reference, written(Path(beside) / "exact", model, FLOAT32), chosen)
        stock = stock_model(model)
        noise = differences(stock, written(Path(beside) / "stock", stock, quantization), chosen)
    return {
        FLOAT32: exact,
        quantization: check_noise(model, reference, written(part, model, quantization), chosen, noise),
        STOCK: noise,
    }


def write_model(folder: Path, model: BaseFairseqModel, symbols: Sequence[str], quantization: str) -> None:
    """Write what CTranslate2 reads."""
    spec = specification(model, symbols)
    spec.validate()
    spec.optimize(quantization)
    spec.save(str(folder))


def told(agreements: dict[str, Agreement]) -> str:
    """The figures of a check in words, a line each."""
    lines = []
    for name, agreement in agreements.items():
        figures = f"up to {agreement.largest:.2g}, root mean square {agreement.rms:.2g}, over {agreement.tokens} tokens"
        equal = "" if name == STOCK else f"; {agreement.equal:.1%} of the best translations are equal"
        lines.append(f"{'a stock model so quantised' if name == STOCK else name}: log-probabilities differ by {figures}{equal}")
    return "\n".join(lines)
