"""From a run folder to an export that was found to translate as the run does."""

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from fairseq.models import BaseFairseqModel

from zsnmt.decoding.fairseq_engine import FairseqEngine, fairseq_options
from zsnmt.decoding.options import FLOAT32
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files import new_folder, replacing_folder, sha256, write_json
from zsnmt.inference.export.ctranslate2.check import (
    EXACT,
    LEAST,
    MARGIN,
    Agreement,
    Sample,
    check_exact,
    check_noise,
    differences,
    samples,
    scored,
    stock_model,
)
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.library import ctranslate2
from zsnmt.inference.export.ctranslate2.quantisation import check_quantization, quantise
from zsnmt.inference.export.ctranslate2.refusals import check_exportable
from zsnmt.inference.export.ctranslate2.self_check import PLACES, Bound, place, write_check
from zsnmt.inference.export.ctranslate2.specification import specification
from zsnmt.inference.export.folder import EXPORT_FILE, checksums, needed
from zsnmt.inference.trained_run import TrainedRun, load_run
from zsnmt.runs.folder import MODEL_FILE, PIPELINE_FOLDER, describe_run, versions

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
    check_quantization(quantization)
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
        agreements, here = checked(part, run, trained, record, chosen)
        write_check(part, scored(trained.model, chosen), bound(agreements))
        figures = {name: agreement._asdict() for name, agreement in agreements.items()}
        check = {"check": {"sentences": len(chosen), **figures}, PLACES: [here]}
        write_json(part / EXPORT_FILE, record | {"files": checksums(part), **check})
    return output, agreements


def export_record(run: Path, record: dict, trained: TrainedRun, quantization: str) -> dict:
    """What an export says of itself, by the record of its run."""
    return {
        **needed(trained.codec, quantization, trained.model.max_decoder_positions()),
        "run": record,
        "model": sha256(run / MODEL_FILE),
        "versions": versions() | {"ctranslate2": ctranslate2().__version__},
    }


def bound(agreements: dict[str, Agreement]) -> Bound:
    """What an export is held to wherever it is opened: what it was held to here."""
    return Bound("rms", MARGIN * agreements[STOCK].rms) if STOCK in agreements else Bound("largest", EXACT)


def checked(
    part: Path, run: Path, trained: TrainedRun, record: dict, chosen: Sequence[Sample]
) -> tuple[dict[str, Agreement], dict]:
    """Write an export into a folder; how far it agrees with its run, and the kind of processor on which it does.

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
        engine = written(part, model, FLOAT32)
        return {FLOAT32: check_exact(model, reference, engine, chosen)}, place(engine)
    with TemporaryDirectory(dir=part) as beside:
        exact = check_exact(model, reference, written(Path(beside) / "exact", model, FLOAT32), chosen)
        stock = stock_model(model)
        noise = differences(stock, written(Path(beside) / "stock", stock, quantization), chosen)
    engine = written(part, model, quantization)
    return {FLOAT32: exact, quantization: check_noise(model, reference, engine, chosen, noise), STOCK: noise}, place(engine)


def write_model(folder: Path, model: BaseFairseqModel, symbols: Sequence[str], quantization: str) -> None:
    """Write what CTranslate2 reads."""
    spec = specification(model, symbols)
    spec.validate()
    quantise(spec, quantization)
    spec.save(str(folder))


def told(agreements: dict[str, Agreement]) -> str:
    """The figures of a check in words, a line each."""
    lines = []
    for name, agreement in agreements.items():
        figures = f"up to {agreement.largest:.2g}, root mean square {agreement.rms:.2g}, over {agreement.tokens} tokens"
        equal = "" if name == STOCK else f"; {agreement.equal:.1%} of the best translations are equal"
        lines.append(f"{'a stock model so quantised' if name == STOCK else name}: log-probabilities differ by {figures}{equal}")
    return "\n".join(lines)
