"""Run folders: what a run is made of, written down where the run is."""

import platform
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from zsnmt.data.binarised_folder import shards_of
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.project import CHECKOUT
from zsnmt.files.records import CLEANING_FILE, OVERLAP_FILE, read_json, write_json
from zsnmt.files.replacing import new_folder, replacing
from zsnmt.languages import LANGUAGES_FILE, Direction, kind_of, parse_direction, read_languages
from zsnmt.runs.commands import same_command
from zsnmt.runs.ending import Ending, read_ending
from zsnmt.runs.log import Validated, logged_validations, summarise
from zsnmt.runs.scores import Way
from zsnmt.text.piece_counts import PIECE_COUNTS_FILE, read_piece_counts
from zsnmt.text.pipeline import FILES, PIPELINE_FILE

PACKAGES = (
    "torch",
    "fairseq-fixed",
    "numpy",
    "sentencepiece",
    "sacrebleu",
    "sacremoses",
    "indic-nlp-library",
    "py3langid",
)
PIPELINE = (LANGUAGES_FILE, "dict.*.txt", PIECE_COUNTS_FILE, *FILES)
RECORD_FILE, CONFIG_FILE = "run.json", "config.conf"
CHECKPOINTS, HYPOTHESES, PIPELINE_FOLDER = "checkpoints", "hypotheses", "pipeline"  # folders in a run
# Directions of which run.json says how they were learned.
DIRECTION_LISTS = SYNTHETIC, FEW = "synthetic", "few_shot"
TAUGHT_BY = "distilled_from"  # what run.json says of a student's teacher
RECORD = {  # what run.json says
    **dict.fromkeys(("config", "system", "text"), str),
    "seed": int,
    **dict.fromkeys(("command", "commit"), str | None),
    "versions": Mapping[str, str] | None,
    "overlap": Mapping[str, Mapping[str, int]] | None,
    "adapted_from": Mapping | None,
    **dict.fromkeys(DIRECTION_LISTS, Sequence[str] | None),
}
BEFORE = "before"  # folder of the hypotheses of the run that an adapted one goes on from
CONFIDENCE_FILE = "confidence.json"  # what `zsnmt confidence` found of the model
HYPOTHESES_CHECKSUMS = "checksums"  # of their files by name, beside what they were made with
MODEL_FILE, LOG_FILE, COMMAND_FILE = "model.pt", "train.log", "train.command"
LAST_CHECKPOINT = "checkpoint_last.pt"  # in the folder of checkpoints: the one to go on from


def start_run(
    run: Path,
    config: Path,
    data: Path,
    text: Path,
    system: str,
    seed: int,
    command: str,
    adapted_from: Path | None = None,
    mode: str = "",
    further: Mapping[str, Any] | None = None,
) -> None:
    """Make a run folder: the config as used, the text pipeline, and run.json with command, commit, versions,
    overlap and the number of shards, where the data have several.

    A run that goes on from another, in an adaptation of that mode, names it and keeps its hypotheses in
    `before/`. `further` is what run.json says besides. A run without checkpoints is begun anew, so that
    options that a model refused can be mended. Raises `InputError` if the folder holds a run of another
    command, config or pipeline, and for data that lack a pipeline.
    """
    read_languages(data)
    if not (data / PIPELINE_FILE).is_file():
        raise InputError(f"{data / PIPELINE_FILE} is missing; remove {data} and give the same command again")
    run.mkdir(parents=True, exist_ok=True)
    if not has_checkpoint(run):
        forget_beginning(run)
    check_config(run, config)
    pipeline = run / PIPELINE_FOLDER
    if not pipeline.is_dir():
        with new_folder(pipeline) as part:
            for pattern in PIPELINE:
                for path in data.glob(pattern):
                    shutil.copyfile(path, part / path.name)
    elif changed := [path.name for path in pipeline.iterdir() if not same_bytes(path, data / path.name)]:
        raise InputError(
            f"{run} was trained with another {changed[0]} than that of {data}; remove the run and train it "
            "again"
        )
    check_same_run(run, command, further or {})
    keep_config(run, config)
    if not (run / RECORD_FILE).is_file():  # a run that goes on keeps the record of its start
        record = {
            "config": config.stem,
            "system": system,
            "seed": seed,
            "command": command,
            "commit": commit(),
            "versions": versions(),
            "text": str(text.resolve()),
        }
        if (shards := len(shards_of(data))) > 1:
            record["shards"] = shards
        if (text / OVERLAP_FILE).is_file():
            record["overlap"] = read_json(text / OVERLAP_FILE, "make the text again with zsnmt train")
        if (text / CLEANING_FILE).is_file():
            record["cleaning"] = read_json(text / CLEANING_FILE, "make the text again with zsnmt train")
        if adapted_from:
            record["adapted_from"] = origin(adapted_from) | {"mode": mode}
            record |= {
                kind: directions for kind, directions in direction_lists(adapted_from).items() if directions
            }
        write_json(run / RECORD_FILE, record | dict(further or {}))
    if adapted_from and (adapted_from / HYPOTHESES).is_dir() and not (run / BEFORE).is_dir():
        with new_folder(run / BEFORE) as before:
            shutil.copytree(adapted_from / HYPOTHESES, before, dirs_exist_ok=True)


def check_same_run(run: Path, command: str, further: Mapping[str, Any]) -> None:
    """`InputError` if a run with checkpoints was made by another command, or taught by another model, than
    `further` says of a run to be made.
    """
    if not has_checkpoint(run) or not (run / RECORD_FILE).is_file():
        return
    record = read_record(run)
    if not same_command(made := record.get("command") or "", command):
        raise InputError(
            f"{run} is another run, made by '{made}', and not by '{command}'; choose another name with --name"
        )
    before, now = (models_of(of.get(TAUGHT_BY)) for of in (record, further))
    if before and now and before != now:
        raise InputError(
            f"{run} was taught by another model than is now at {further[TAUGHT_BY]['run']}; choose another "
            "name with --name, or remove the run to have it taught again"
        )


def models_of(teacher: Any) -> list[str]:
    """The checksums of the models by which a run was taught, as its record describes them; none where it does
    not.
    """
    if not isinstance(teacher, Mapping):
        return []
    return [str(teacher.get("model", "")), *chain.from_iterable(map(models_of, teacher.get("beside", [])))]


def has_checkpoint(run: Path) -> bool:
    """Whether a training has left anything to go on from."""
    return (run / MODEL_FILE).is_file() or any((run / CHECKPOINTS).glob("*.pt"))


def forget_beginning(run: Path) -> None:
    """Remove what a run folder says of how its training began."""
    for name in (RECORD_FILE, CONFIG_FILE, COMMAND_FILE):
        (run / name).unlink(missing_ok=True)
    for name in (PIPELINE_FOLDER, BEFORE):
        shutil.rmtree(run / name, ignore_errors=True)


def check_config(run: Path, config: Path) -> None:
    """`InputError` if the run was made with another config of that name."""
    kept = run / CONFIG_FILE
    if kept.is_file() and kept.read_bytes() != config.read_bytes():
        raise InputError(
            f"{run} was made with another {config.name}; remove the folder, or give the config a new name"
        )


def keep_config(run: Path, config: Path) -> None:
    """Write the config as used into the run."""
    with replacing(run / CONFIG_FILE) as file:
        file.write(config.read_bytes())


def origin(run: Path) -> dict:
    """What an adapted run says of the run it goes on from."""
    record = read_record(run)
    return {
        **{key: record.get(key) for key in ("config", "system", "seed", "commit")},
        "model": sha256(run / MODEL_FILE),
        "languages": read_languages(run / PIPELINE_FOLDER),
    }


def direction_lists(run: Path) -> dict[str, list[str]]:
    """The directions that a run was trained on with synthetic text alone, and those with a few lines."""
    record = read_record(run)
    return {name: record.get(name) or [] for name in DIRECTION_LISTS}


def kinds(record: Mapping, trained: Collection[Direction]) -> Callable[[Direction], str]:
    """What each direction is to the model of a run, by its run.json and the directions of its training."""
    synthetic, few = ([*map(parse_direction, record.get(name) or [])] for name in DIRECTION_LISTS)
    return partial(kind_of, trained=trained, synthetic=synthetic, few=few)


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two files are there and equal."""
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()


def differing(pipeline: Path, other: Path) -> list[str]:
    """The names of the files of a text pipeline that another folder has not, or has otherwise."""
    names = [path.name for path in sorted(pipeline.iterdir())]
    return [name for name in names if not same_bytes(pipeline / name, other / name)]


def read_record(run: Path) -> dict:
    """What run.json says of a run; `InputError` if there is none."""
    return read_json(run / RECORD_FILE, "make a run folder with zsnmt train", RECORD)


def piece_counts(run: Path) -> dict[str, Counter[str]]:
    """How often each language uses each piece in the training text of a run, or of the export of one.

    `InputError` where neither the pipeline says so nor, in a run older than the file, `zsnmt count-pieces`
    has counted.
    """
    there = (run / PIECE_COUNTS_FILE).is_file()
    return read_piece_counts(run if there else run / PIPELINE_FOLDER)


def check_trained(run: Path) -> None:
    """`InputError` for what is not the folder of a trained run."""
    if not (run / RECORD_FILE).is_file():
        raise InputError(f"{run} is not a run folder; give one made by zsnmt train")
    if not (run / MODEL_FILE).is_file():
        command = read_record(run).get("command") or "zsnmt train"
        raise InputError(
            f"{run} has no {MODEL_FILE}, which the end of its training writes; train it on with {command}, "
            "or leave it out"
        )


def ending_of(run: Path) -> Ending | None:
    """How the training of a run ended; None where its log does not say."""
    log = run / LOG_FILE
    return read_ending(log.read_text(encoding="utf-8", errors="replace")) if log.is_file() else None


def describe_run(run: Path) -> dict:
    """What is known of a run, for its score file: run.json, and its validations, which are in its log alone
    where the task of its training keeps no record of them.
    """
    from zsnmt.runs.validation import choosing_directions, read_validations  # loads sacreBLEU

    validations = [
        Validated(line["epoch"], line["updates"], line["nll_loss"])
        for line in read_validations(run / CHECKPOINTS)
    ]
    log = run / LOG_FILE
    if not validations and log.is_file():
        validations = logged_validations(log.read_text(encoding="utf-8", errors="replace"))
    known = validations or log.is_file()
    chosen = choosing_directions(run / CHECKPOINTS)
    return {
        **read_record(run),
        "training": str(summarise(validations)) if known else "without a log",
        **({"chosen_on": chosen} if chosen else {}),
    }


def settings_file(folder: Path, way: Way) -> Path:
    """What the hypotheses of a way, in a folder of them, were made with."""
    return folder / f"{way.file_name}.json"


def hypotheses_file(folder: Path, way: Way, direction: Direction) -> Path:
    """The hypotheses of a direction, a line for each source."""
    return folder / f"{way.file_name}.{direction}.txt"


def is_as_translated(path: Path, settings: Mapping) -> bool:
    """Whether a file of hypotheses is what was made with these settings; those of version 0.1 do not say."""
    return sha256(path) == settings.get(HYPOTHESES_CHECKSUMS, {}).get(path.name, sha256(path))


def commit() -> str:
    """The commit of the project, marked where files differ from it, or the version that was installed;
    `unknown` for a checkout without its history.
    """
    if CHECKOUT is None:  # a repository around it would be another's
        return f"v{version('zsnmt')}"

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(CHECKOUT), *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    try:
        return git("rev-parse", "HEAD") + (
            "+changes" if git("status", "--porcelain", "--untracked-files=no") else ""
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def versions() -> dict[str, str]:
    """Versions of Python and the packages that decide results."""
    return {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}}
