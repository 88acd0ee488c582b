"""The folder of an export: files of its format, the text pipeline, and a record of what was exported.

model.bin  config.json  shared_vocabulary.json    what CTranslate2 reads, in its format
__de__/ ...                                       the same for a language with weights of its own
pipeline/                                         text to pieces and back, dictionaries, languages
piece_counts.tsv                                  of a run whose pipeline is older than they are
check.json                                        sentences of the check, with PyTorch's log-probabilities
export.json                                       what was exported, how far it agrees, on which processors
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.reading import Codec
from zsnmt.decoding.options import CTRANSLATE2
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.kinds import check_kinds
from zsnmt.files.records import damage_of, read_json
from zsnmt.inference.export.formats import FORMATS
from zsnmt.languages import parse_direction, read_languages
from zsnmt.runs.folder import EXPORT_FILE, PIPELINE_FOLDER
from zsnmt.runs.folder import RECORD_KINDS as KINDS_OF_RUN
from zsnmt.text.dictionary import Dictionary
from zsnmt.text.pipeline import PIPELINE_FILE, TextPipeline

WEIGHTS_FILE = "model.bin"
OLD_FORMAT = 1  # in records of a time when all exports were for CTranslate2
REMEDY = "export the run again with zsnmt export"
CHECKSUM = "checksum"  # in a record: that of all else, but for what is added to it later
PLACES = "checked_on"  # what is added: the kinds of processors
RECORD_KINDS = {  # what export.json says
    **dict.fromkeys(("quantization", "language_tags", "model"), str),
    **dict.fromkeys(("languages", "trained"), Sequence[str]),
    **dict.fromkeys(("max_source_positions", "max_target_positions"), int),
    "files": Mapping[str, str],
    PLACES: Sequence[Mapping] | None,
    "run": KINDS_OF_RUN,
}


def export_folder(run: Path, to: str, quantization: str) -> Path:
    """Where a run keeps an export, unless told otherwise."""
    return run / f"{to}-{quantization}"


def is_export(folder: Path) -> bool:
    """Whether a folder is one of an export, and not of a run; `InputError` for one that lost its record."""
    record = folder / EXPORT_FILE
    if not record.is_file() and (folder / WEIGHTS_FILE).is_file():
        raise InputError(f"{record} is missing, without which an export cannot be used; {REMEDY}")
    return record.is_file()


def describe_export(folder: Path) -> dict:
    """What an export says of itself, its files unseen; `InputError` for a record that was changed, and for a
    format that is not known.
    """
    record = read_json(folder / EXPORT_FILE, REMEDY, {"format": str | int | None})
    if CHECKSUM in record and record[CHECKSUM] != checksum(record):
        raise InputError(f"{folder / EXPORT_FILE} is damaged: it does not say what was exported; {REMEDY}")
    if record.get("format") == OLD_FORMAT:
        record["format"] = CTRANSLATE2
    if record.get("format") not in FORMATS:
        raise InputError(f"{folder / EXPORT_FILE} is of another version of the toolkit; {REMEDY}")
    with damage_of(folder / EXPORT_FILE, REMEDY):
        check_kinds(record, RECORD_KINDS)
    return record


def read_export(folder: Path) -> dict:
    """The record of an export whose files are as they were written; `InputError` for another folder."""
    record = describe_export(folder)
    check_files(folder, record["files"])
    return record


def check_files(folder: Path, checksums: Mapping[str, str], remedy: str = REMEDY) -> None:
    """`InputError` for a file of an export that is missing, or not as it was written."""
    for name, checksum in checksums.items():
        if not (folder / name).is_file():
            raise InputError(f"{folder / name} is missing; {remedy}")
        if sha256(folder / name) != checksum:
            raise InputError(f"{folder / name} is damaged: it is not the file that was exported; {remedy}")


def codec_record(codec: Codec, to: str, quantization: str, max_target_positions: int) -> dict:
    """What the record of an export to a format says for those who translate with it."""
    return {
        "format": to,
        "quantization": quantization,
        "languages": codec.languages,
        "trained": [*map(str, codec.trained)],
        "language_tags": codec.placement.name,
        "max_source_positions": codec.longest,
        "max_target_positions": max_target_positions,
    }


def checksum(record: dict) -> str:
    """The checksum of a record, whose places may grow."""
    lasting = {name: value for name, value in record.items() if name not in (CHECKSUM, PLACES)}
    return hashlib.sha256(json.dumps(lasting, sort_keys=True).encode("utf-8")).hexdigest()


def checksums(folder: Path) -> dict[str, str]:
    """The checksums of an export's files, but for its record, by their names."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / EXPORT_FILE]
    return {str(path.relative_to(folder)): sha256(path) for path in files}


def codec(folder: Path, record: dict) -> Codec:
    """What turns text into the input of an exported model, and its output into text.

    `InputError` for a record of which no such thing can be made.
    """
    pipeline, languages = folder / PIPELINE_FOLDER, read_languages(folder / PIPELINE_FOLDER)
    dictionary = Dictionary.load(pipeline / f"dict.{languages[0]}.txt", REMEDY)
    text_pipeline = TextPipeline.load(pipeline, f"{PIPELINE_FOLDER}/{PIPELINE_FILE}" not in record["files"])
    try:
        longest, longest_target = (int(record[f"max_{side}_positions"]) for side in ("source", "target"))
        if longest_target < 2:
            raise ValueError(f"a translation cannot have at most {longest_target} tokens")
        trained = [parse_direction(direction) for direction in record["trained"]]
        placement = TagPlacement(record["language_tags"], dictionary)
        return Codec(text_pipeline, placement, languages, trained=trained, longest=longest)
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"{folder / EXPORT_FILE} is damaged ({error}); {REMEDY}") from error
