"""From a run folder to an export that was found to translate as the run does."""

import logging
from pathlib import Path
from time import perf_counter

from zsnmt.decoding.options import CTRANSLATE2, FLOAT32
from zsnmt.files.records import write_json
from zsnmt.files.replacing import new_folder, replacing_folder
from zsnmt.inference.export.agreement import Agreement
from zsnmt.inference.export.folder import (
    CHECKSUM,
    EXPORT_FILE,
    checksum,
    checksums,
    codec_record,
    export_folder,
)
from zsnmt.inference.export.formats import SENTENCES, load_format
from zsnmt.inference.export.samples import check_sentences, samples
from zsnmt.inference.trained_run import TrainedRun, load_run
from zsnmt.runs.folder import describe_run, versions

logger = logging.getLogger(__name__)


def export_run(
    run: Path,
    output: Path | None = None,
    *,
    to: str = CTRANSLATE2,
    quantization: str = FLOAT32,
    text: Path | None = None,
    sentences: int = SENTENCES,
    replace: bool = False,
) -> tuple[Path, dict[str, Agreement]]:
    """Export a run's averaged checkpoint into a folder, RUN/FORMAT-QUANTIZATION by default, which is new
    unless `replace`.

    It is compared with PyTorch on so many sentences, or a few more, of the test set in `text`, the run's own
    by default. Says what it does and how long it took, and returns the folder and how far they agree. Raises
    `InputError` for a model that the format cannot hold exactly, for too little text, and for an export that
    fails; then what was there before stays.
    """
    begin = perf_counter()
    check_sentences(sentences)
    export_format = load_format(to)
    export_format.check(quantization)  # refused before anything is read
    description, output = describe_run(run), output or export_folder(run, to, quantization)
    with (replacing_folder if replace else new_folder)(output) as part:
        trained = load_run(run)
        trained.model.to("cpu")
        longest = min(trained.codec.longest, trained.model.max_decoder_positions())
        text = text or Path(description["text"])
        chosen = samples(trained.codec, text, sentences, longest=longest)
        logger.info("exporting %s into %s, and checking it on %d sentences", run, output, len(chosen))
        record = export_record(description, trained, to=to, quantization=quantization)
        agreements, besides = export_format.write(
            part, run, trained, record=record, samples=chosen, text=text
        )
        figures = {name: agreement._asdict() for name, agreement in agreements.items()}
        record |= {"files": checksums(part), "check": {"sentences": len(chosen), **figures}, **besides}
        write_json(part / EXPORT_FILE, record | {CHECKSUM: checksum(record)})
    logger.info("exported in %.0f seconds", perf_counter() - begin)
    return output, agreements


def export_record(description: dict, trained: TrainedRun, to: str, quantization: str) -> dict:
    """What an export says of itself, by the description of its run and the model that was loaded."""
    return {
        **codec_record(
            trained.codec, to, quantization, max_target_positions=trained.model.max_decoder_positions()
        ),
        "run": description,
        "model": trained.checksum,
        "versions": versions(),
    }
