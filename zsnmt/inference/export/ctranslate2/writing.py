"""A run as a folder that CTranslate2 translates with."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from fairseq.models import BaseFairseqModel

from zsnmt.decoding.fairseq_engine import FairseqEngine, fairseq_options
from zsnmt.decoding.options import FLOAT32
from zsnmt.decoding.search import Search, Vocabulary
from zsnmt.files.records import write_json
from zsnmt.inference.export.agreement import STOCK, Agreement
from zsnmt.inference.export.ctranslate2.check import (
    EXACT,
    MARGIN,
    check_exact,
    check_noise,
    differences,
    score_translations,
    stock_model,
)
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.library import ctranslate2
from zsnmt.inference.export.ctranslate2.mask_check import NAME, check_mask, check_mask_scores, has_counts
from zsnmt.inference.export.ctranslate2.quantisation import quantise
from zsnmt.inference.export.ctranslate2.refusals import check_exportable
from zsnmt.inference.export.ctranslate2.self_check import Bound, place, write_check
from zsnmt.inference.export.ctranslate2.specification import own_tags, specification
from zsnmt.inference.export.folder import EXPORT_FILE, PLACES, checksums
from zsnmt.inference.export.samples import Sample
from zsnmt.inference.trained_run import TrainedRun
from zsnmt.languages import language_tag
from zsnmt.runs.folder import PIPELINE_FOLDER
from zsnmt.text.piece_counts import PIECE_COUNTS_FILE


def write(
    folder: Path, run: Path, trained: TrainedRun, *, record: dict, samples: Sequence[Sample], text: Path
) -> tuple[dict[str, Agreement], dict]:
    """Write an export into a folder, with what it is checked by elsewhere; see `Format`.

    In float32 it has to agree with the run, and quantised it has to be as near as a stock model.
    """
    check_exportable(trained.model, record["quantization"])
    record = record | {"versions": record["versions"] | {"ctranslate2": ctranslate2().__version__}}
    agreements, here = write_checked(folder, run, trained, record=record, chosen=samples)
    write_check(folder, score_translations(trained.model, samples), agreement_bounds(agreements))
    return agreements, {"versions": record["versions"], PLACES: [here]}


def agreement_bounds(agreements: dict[str, Agreement]) -> Bound:
    """What an export is held to wherever it is opened: what it was held to here."""
    return Bound("rms", MARGIN * agreements[STOCK].rms) if STOCK in agreements else Bound("largest", EXACT)


def write_checked(
    part: Path, run: Path, trained: TrainedRun, record: dict, chosen: Sequence[Sample]
) -> tuple[dict[str, Agreement], dict]:
    """Write an export into a folder; how far it agrees with its run, and the kind of processor on which it
    does.

    A quantised one is written in float32 before, for what quantisation does not explain, and so is a stock
    model, quantised alike, for how much it explains.
    """
    model, quantization, search = trained.model, record["quantization"], Search()
    reference = FairseqEngine(model, trained.task.build_generator([model], fairseq_options(search)))

    def written(folder: Path, model: BaseFairseqModel, quantization: str) -> CTranslate2Engine:
        folder.mkdir(exist_ok=True)
        write_model(folder, model, trained.codec, quantization=quantization)
        shutil.copytree(run / PIPELINE_FOLDER, folder / PIPELINE_FOLDER)
        if (run / PIECE_COUNTS_FILE).is_file():  # of a run that is older than they are
            shutil.copy(run / PIECE_COUNTS_FILE, folder)
        write_json(folder / EXPORT_FILE, record | {"files": checksums(folder)})
        return CTranslate2Engine(folder, search)

    def exact(engine: CTranslate2Engine) -> dict[str, Agreement]:
        agreements = {FLOAT32: check_exact(model, reference, engine, chosen=chosen)}
        if has_counts(engine):
            agreements[NAME] = check_mask(model, engine, chosen)
        return agreements

    if quantization == FLOAT32:
        engine = written(part, model, FLOAT32)
        return exact(engine), place(engine)
    with TemporaryDirectory(dir=part) as beside:
        agreements = exact(written(Path(beside) / "exact", model, FLOAT32))
        stock = stock_model(model)
        noise = differences(stock, written(Path(beside) / "stock", stock, quantization), chosen)
    engine = written(part, model, quantization)
    if has_counts(engine):
        check_mask_scores(engine, chosen, noise)
    return agreements | {
        quantization: check_noise(model, reference, engine, chosen=chosen, stock=noise),
        STOCK: noise,
    }, place(engine)


def write_model(folder: Path, model: BaseFairseqModel, codec: Vocabulary, quantization: str) -> None:
    """Write what CTranslate2 reads: a model, and one for each language that has weights of its own."""
    symbols = codec.dictionary.symbols
    tags = [codec.dictionary.index(language_tag(language)) for language in codec.languages]
    for tag in (None, *own_tags(model, tags)):
        spec = specification(model, symbols, tag)
        spec.validate()
        quantise(spec, quantization)
        of_language = folder if tag is None else folder / symbols[tag]
        of_language.mkdir(exist_ok=True)
        spec.save(str(of_language))
