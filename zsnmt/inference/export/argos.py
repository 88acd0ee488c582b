"""A run as packages for Argos Translate and LibreTranslate: a file for each direction.

A package (`.argosmodel`) is a zip with metadata.json, sentencepiece.model and the model as CTranslate2 reads
it. Argos Translate gives CTranslate2 the bare pieces of SentencePiece and, as the target's prefix, the tag of
the language. So it can hold a model whose only tag is the decoder's first input, and whose text needs
nothing but SentencePiece.
"""

import json
import shutil
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sentencepiece import SentencePieceProcessor

from zsnmt.corpora.parallel_text import find_pair, pairs_of_split
from zsnmt.data.language_tags import decoder_tag, source_tags
from zsnmt.data.reading import Codec
from zsnmt.decoding.options import CPU_PRECISIONS, CTRANSLATE2, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.files.replacing import new_folder, replacing
from zsnmt.inference.engines import prepare_engine
from zsnmt.inference.export.ctranslate2.library import ctranslate2
from zsnmt.inference.export.ctranslate2.models import model_for, models_in
from zsnmt.inference.export.folder import WEIGHTS_FILE, codec, export_folder, read_export
from zsnmt.inference.export.formats import ARGOS
from zsnmt.inference.export.samples import check_sentences
from zsnmt.languages import Direction, language_tag
from zsnmt.runs.folder import PIPELINE_FOLDER, check_trained
from zsnmt.text.lines import read_lines
from zsnmt.text.subword import MODEL_FILE

VERSION, FOR_ARGOS = "1.0", "1.9"  # of the package, and the least one of Argos Translate
MODEL_FILES = (WEIGHTS_FILE, "config.json", "shared_vocabulary.json")
BEAM, LENGTH_PENALTY = 4, 0.2  # those of Argos Translate, which cannot be chosen


def export_packages(
    run: Path,
    output: Path | None = None,
    *,
    quantization: str,
    directions: Sequence[Direction] = (),
    text: Path | None = None,
    sentences: int,
) -> list[Path]:
    """Write packages of a run, of all its directions unless some are named, into a new folder,
    RUN/argos-QUANTIZATION by default; returns them.

    They are made from the run's export for CTranslate2, which is made and checked first if there is none, and
    are held to translate so many `sentences` of the test set in `text`, the run's own by default, as that
    does. Raises `InputError` for a model that they cannot hold, and for a quantization that they do not have.
    """
    check_sentences(sentences)
    if quantization not in CPU_PRECISIONS:
        raise InputError(
            f"--quantization {quantization} is not offered for --to {ARGOS}: choose "
            f"{' or '.join(CPU_PRECISIONS)}"
        )
    check_trained(run)
    prepare_engine(run, Search(), EngineChoice(CTRANSLATE2, quantization), text=text)
    export = export_folder(run, CTRANSLATE2, quantization)
    record = read_export(export)
    reading = codec(export, record)
    check_packable(run, reading)
    known = [
        Direction(one, other) for one in reading.languages for other in reading.languages if one != other
    ]
    if unknown := [str(direction) for direction in directions if direction not in known]:
        raise InputError(
            f"{run} does not translate {', '.join(unknown)}; its languages are {', '.join(reading.languages)}"
        )
    output = output or export_folder(run, ARGOS, quantization)
    chosen = directions or known
    with new_folder(output) as part, TemporaryDirectory() as beside:
        models = Path(beside)
        write_models(export, models)
        lines = lines_to_check(text or Path(record["run"]["text"]), chosen, sentences)
        check_packages(export, models, lines, codec=reading)
        for direction in chosen:
            write_package(part / file_name(direction), models, record, direction=direction)
    return [output / file_name(direction) for direction in chosen]


def check_packable(run: Path, reading: Codec) -> None:
    """`InputError` for a model that is told more than Argos Translate can tell it."""
    placement, anything = reading.placement.name, Direction(*reading.languages[:2])
    reason = None
    if source_tags(placement, anything) or decoder_tag(placement, anything) is None:
        reason = f"its language tags are {placement}, and a package has one in the decoder alone"
    elif reading.pipeline.needs_language:
        reason = "a package prepares text with SentencePiece alone, and this model needs more"
    if reason:
        raise InputError(f"{run} cannot be a package for Argos Translate: {reason}; export it to ctranslate2")


def file_name(direction: Direction) -> str:
    """The name of a direction's package, as Argos Translate's own are called."""
    return f"translate-{direction.source}_{direction.target}-{VERSION.replace('.', '_')}.argosmodel"


def write_models(export: Path, folder: Path) -> None:
    """What packages are made of: the models of an export, which itself ends its sentences, where those of a
    package have to.
    """
    for model in (export, *models_in(export).values()):
        copied = folder / model.relative_to(export)
        copied.mkdir(exist_ok=True)
        for name in MODEL_FILES:
            shutil.copyfile(model / name, copied / name)
        config = json.loads((model / "config.json").read_text(encoding="utf-8"))
        write_json(copied / "config.json", config | {"add_source_eos": True})
    shutil.copyfile(export / PIPELINE_FOLDER / MODEL_FILE, folder / MODEL_FILE)


def write_package(path: Path, models: Path, record: dict, *, direction: Direction) -> None:
    """Write the package of a direction, with the one of its models that translates into that language."""
    metadata = {
        "package_version": VERSION,
        "argos_version": FOR_ARGOS,
        "from_code": direction.source,
        "from_name": direction.source,
        "to_code": direction.target,
        "to_name": direction.target,
        "target_prefix": language_tag(direction.target),
        "type": "translate",
    }
    trained = "trained on text" if str(direction) in record["trained"] else "without training text by people"
    about = f"zsnmt: {record['run']['system']} of {record['run']['config']}, {direction}, {trained}.\n"
    top = path.stem
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"{top}/metadata.json", json.dumps(metadata, indent=1))
        packed.writestr(f"{top}/README.md", about)
        packed.write(models / MODEL_FILE, f"{top}/sentencepiece.model")
        model = model_for(models, direction.target)
        for name in MODEL_FILES:
            packed.write(model / name, f"{top}/model/{name}")


def lines_to_check(text: Path, directions: Sequence[Direction], number: int) -> list[tuple[Direction, str]]:
    """About so many sentences of the test set, as many from each of the directions that it has."""
    pairs = pairs_of_split(
        text, "test", sorted({language for direction in directions for language in direction})
    )
    there = [each for each in directions if (each in pairs or each[::-1] in pairs)]
    if not there:
        raise InputError(
            f"{text} has no test set for the packages to be checked on; name another with --text"
        )
    return [
        (direction, line)
        for direction in there
        for line in read_lines(find_pair(text, "test", *direction)[0])[: -(-number // len(there))]
    ]


def check_packages(
    export: Path, models: Path, lines: Sequence[tuple[Direction, str]], *, codec: Codec
) -> None:
    """`InputError` unless Argos Translate reads each line as the toolkit does, but for characters that the
    model does not know and lines longer than it reads, and translates it as the export does with the same
    search.
    """
    processor = SentencePieceProcessor(model_file=str(models / MODEL_FILE))
    opened = cache(lambda folder: ctranslate2().Translator(str(folder)))
    for direction, line in lines:
        tokens = codec.source(line, direction).source
        # Unknown characters, which SentencePiece and the toolkit cut differently, and what is read in parts.
        if codec.dictionary.unk() in tokens or len(tokens) > codec.longest:
            continue
        *wanted, end = (codec.dictionary[token] for token in tokens)
        pieces = processor.encode(line, out_type=str)
        if pieces != wanted:
            raise InputError(
                f"Argos Translate would read '{line}' as {' '.join(pieces)}, not as {' '.join(wanted)}"
            )
        search = {"beam_size": BEAM, "length_penalty": LENGTH_PENALTY, "return_scores": True}
        prefix = [[language_tag(direction.target)]]
        ours, theirs = (
            opened(model_for(folder, direction.target)).translate_batch([source], prefix, **search)[0]
            for folder, source in ((export, [*wanted, end]), (models, pieces))
        )
        if ours.hypotheses != theirs.hypotheses or ours.scores != theirs.scores:
            (one, score), (other, wanted_score) = (
                (" ".join(result.hypotheses[0]), result.scores[0]) for result in (theirs, ours)
            )
            raise InputError(
                f"the package translates '{line}' into {one} ({score:.3f}), the export into {other} "
                f"({wanted_score:.3f})"
            )
