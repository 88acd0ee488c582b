"""Run folders: what a run is made of, written down where the run is."""

import os
import platform
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.names import is_plain
from zsnmt.files.project import CHECKOUT
from zsnmt.files.records import damage_of, read_json
from zsnmt.languages import Direction, check_known, kind_of, parse_direction, read_languages
from zsnmt.runs.commands import as_verb
from zsnmt.runs.ending import Ending, read_ending
from zsnmt.runs.log import Validated, logged_validations, summarise
from zsnmt.runs.ways import Way
from zsnmt.text.piece_counts import PIECE_COUNTS_FILE, read_piece_counts

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
RECORD_FILE, CONFIG_FILE = "run.json", "config.conf"
EXPORT_FILE = "export.json"  # the record of an export, which is not a run
TEXT_FOLDER = "text"  # beside the folders of systems
# Folders of an experiment that all its runs have in common.
SHARED = ("source", TEXT_FOLDER, "data", "synthetic", "few_lines")
CHECKPOINTS, HYPOTHESES, PIPELINE_FOLDER = "checkpoints", "hypotheses", "pipeline"  # folders in a run
# Directions of which run.json says how they were learned.
DIRECTION_LISTS = SYNTHETIC, FEW = "synthetic", "few_shot"
RECORD_KINDS = {  # what run.json says
    **dict.fromkeys(("config", "system", "text"), str),
    "seed": int,
    **dict.fromkeys(("command", "commit", "training_text"), str | None),
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


def training_words(run: Path) -> list[str]:
    """The command of fairseq-train by which a run was trained: program, data, options; `InputError` where
    that is damaged.
    """
    path = run / COMMAND_FILE
    with damage_of(path, "train the run again with zsnmt train"):
        program, data, *options = shlex.split(path.read_text(encoding="utf-8"))
    return [program, data, *options]


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


def differing(folder: Path, other: Path) -> list[str]:
    """The names of the files of a folder that another folder has not, or has otherwise."""
    names = [path.name for path in sorted(folder.iterdir())]
    return [name for name in names if not same_bytes(folder / name, other / name)]


def read_record(run: Path) -> dict:
    """What run.json says of a run; `InputError` if there is none. A text that was moved with its run is where
    it is now.
    """
    if not (run / RECORD_FILE).exists():
        check_pipeline_of_run(run)
    record = read_json(run / RECORD_FILE, "make a run folder with zsnmt train", RECORD_KINDS)
    beside = run.resolve().parent.parent / TEXT_FOLDER
    if "text" in record and not Path(record["text"]).is_dir() and beside.is_dir():
        record["text"] = str(beside)
    return record


def piece_counts(run: Path) -> dict[str, Counter[str]]:
    """How often each language uses each piece in the training text of a run, or of the export of one.

    `InputError` for a folder that is neither, and where neither the pipeline says so nor, in a run older than
    the file, `zsnmt count-pieces` has counted.
    """
    if (run / PIECE_COUNTS_FILE).is_file():
        return read_piece_counts(run)
    if not (run / PIPELINE_FOLDER).is_dir():
        raise no_run(run)
    return read_piece_counts(run / PIPELINE_FOLDER)


def languages_of(run: Path) -> list[str]:
    """Those of a run, or of an export; `InputError` for a folder that is neither."""
    if not (run / PIPELINE_FOLDER).is_dir():
        raise no_run(run)
    return read_languages(run / PIPELINE_FOLDER)


def check_knows(run: Path, *languages: str) -> None:
    """`InputError` for a language that a run, or an export, does not know."""
    known = languages_of(run)
    for language in languages:
        check_known(language, known)


def check_named_once(folders: Sequence[Path]) -> None:
    """`InputError` for a folder that is named twice."""
    if repeated := [each for each in folders if folders.count(each) > 1]:
        raise InputError(f"{repeated[0]} is named twice; name each folder once")


def check_system_name(name: str) -> None:
    """`InputError` for what cannot name a system, in a folder of which its runs are."""
    if not is_plain(name) or name in SHARED:
        raise InputError(
            f"'{name}' cannot name a system, whose runs are in a folder of that name beside "
            f"{', '.join(SHARED)}; give a name without /"
        )


def check_place(run: Path) -> None:
    """`InputError` for a place in which a run could be trained and not be used: to fairseq a colon ends a
    path of data.
    """
    if os.pathsep in str(run):
        raise InputError(
            f"{run} cannot be the folder of a run, for to fairseq a path ends at '{os.pathsep}'; give names "
            "without it to the system, the config and the folder of runs (RUNS)"
        )


def check_pipeline_of_run(run: Path) -> None:
    """`InputError` for what is without a text pipeline, or with that of an export."""
    if (run / EXPORT_FILE).is_file() or not (run / PIPELINE_FOLDER).is_dir():
        raise no_run(run)


def no_run(run: Path) -> InputError:
    """What is said of a folder that is not that of a run: which one below it is meant, if some are."""
    if not run.exists():
        return InputError(
            f"there is no folder {run}; give a run, made by zsnmt train: runs/NAME/SYSTEM/seedN"
        )
    if not run.is_dir():
        return InputError(f"{run} is a file, not a run; a run is a folder, runs/NAME/SYSTEM/seedN")
    if (run / EXPORT_FILE).is_file():
        beside = f", {run.parent}" if (run.parent / RECORD_FILE).is_file() else ""
        use = "which zsnmt translate, serve, evaluate and confidence take as it is; here"
        if not (run / PIPELINE_FOLDER).is_dir():
            use = f"but has no {PIPELINE_FOLDER}, as one for transformers has none: zsnmt does not use it;"
        return InputError(f"{run} is an export, {use} give the folder of its run{beside}")
    below = sorted({*run.glob(f"*/{RECORD_FILE}"), *run.glob(f"*/*/{RECORD_FILE}")})
    if below:
        return InputError(f"{run} is not a run folder; did you mean {below[0].parent}?")
    return InputError(f"{run} is not a run folder; give one made by zsnmt train")


def check_trained(run: Path) -> None:
    """`InputError` for what is not the folder of a trained run."""
    if not (run / RECORD_FILE).is_file():
        raise no_run(run)
    check_has_model(run)


def check_has_model(run: Path) -> None:
    """`InputError` for a run without the model that the end of its training writes, with the command that
    trains it on.
    """
    if not (run / MODEL_FILE).is_file():
        record = read_record(run) if (run / RECORD_FILE).is_file() else {}
        command = as_verb(record.get("command") or "zsnmt train")
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


READ = (".", ":(exclude)docs", ":(exclude,glob)*.md")  # by what makes runs


def commit() -> str:
    """The commit of the project, marked where files differ from it, but for documents, which no run reads; or
    the version that was installed; `unknown` for a checkout without its history.
    """
    if CHECKOUT is None:  # a repository around it would be another's
        return f"v{version('zsnmt')}"

    def git(*arguments: str) -> str:  # which leaves the index alone, that a person's own git may be writing
        command = ["git", "--no-optional-locks", "-C", str(CHECKOUT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + (
            "+changes" if git("status", "--porcelain", "--untracked-files=no", "--", *READ) else ""
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def versions() -> dict[str, str]:
    """Versions of Python and the packages that decide results."""
    return {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}}
