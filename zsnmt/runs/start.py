"""How a run folder begins: with its config, its text pipeline and a record of what makes it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from zsnmt.data.binarised_folder import shards_of
from zsnmt.errors import InputError
from zsnmt.files.checksums import checksum_of, sha256
from zsnmt.files.records import CLEANING_FILE, OVERLAP_FILE, read_json, write_json
from zsnmt.files.replacing import new_folder, replacing, replacing_folder
from zsnmt.languages import LANGUAGES_FILE, read_languages
from zsnmt.runs.commands import same_command
from zsnmt.runs.folder import (
    BEFORE,
    CHECKPOINTS,
    COMMAND_FILE,
    CONFIG_FILE,
    HYPOTHESES,
    MODEL_FILE,
    PIPELINE_FOLDER,
    RECORD_FILE,
    commit,
    differing,
    direction_lists,
    read_record,
    versions,
)
from zsnmt.text.piece_counts import PIECE_COUNTS_FILE
from zsnmt.text.pipeline import FILES, PIPELINE_FILE

PIPELINE = (LANGUAGES_FILE, "dict.*.txt", PIECE_COUNTS_FILE, *FILES)
TAUGHT_BY = "distilled_from"  # what run.json says of a student's teacher
BEGAN_WITH = "began_with"  # and of the run whose weights it began with, where that is another
ADAPTED_FROM = "adapted_from"  # and an adapted run's of the one that it goes on from
PLACES = (b"TEXT=", b"MULTIWAY=", b"RELEASE=")  # in a config: where text is
ORIGINS = {TAUGHT_BY: "was taught by", BEGAN_WITH: "began with", ADAPTED_FROM: "was adapted from"}


@dataclass(frozen=True)
class Beginning:
    """What makes a run: a system with a seed, by a command, on binarised `data` and the `text` of them.

    A run that goes on from another, in an adaptation of a mode, names it. `further` is what run.json says
    besides.
    """

    config: Path
    data: Path
    text: Path
    system: str
    seed: int
    command: str
    adapted_from: Path | None = None
    mode: str = ""
    further: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """What run.json says: also commit, versions, a checksum of the training text, overlap, what cleaning
        left out, and the number of shards, where the data have several.
        """
        record = {
            "config": self.config.stem,
            "system": self.system,
            "seed": self.seed,
            "command": self.command,
            "commit": commit(),
            "versions": versions(),
            "text": str(self.text.resolve()),
        }
        if training_text := checksum_of_training(self.text):
            record["training_text"] = training_text
        if (shards := len(shards_of(self.data))) > 1:
            record["shards"] = shards
        for name, file in {"overlap": OVERLAP_FILE, "cleaning": CLEANING_FILE}.items():
            if (self.text / file).is_file():
                record[name] = read_json(self.text / file, "make the text again with zsnmt train")
        if self.adapted_from:
            record[ADAPTED_FROM] = origin(self.adapted_from) | {"mode": self.mode}
            learned = direction_lists(self.adapted_from)
            record |= {kind: directions for kind, directions in learned.items() if directions}
        return record | dict(self.further)


def checksum_of_training(text: Path) -> str | None:
    """That of the training text in a folder, as run.json has it; None where there is none."""
    files = sorted(text.glob("train.*"))
    return checksum_of({file.name: sha256(file) for file in files}) if files else None


def start_run(run: Path, beginning: Beginning) -> None:
    """Make a run folder: the config as used, the text pipeline, and run.json; one that goes on from another
    keeps the hypotheses of that in `before/`.

    A run without checkpoints is begun anew, so that options that a model refused can be mended. Raises
    `InputError` if the folder holds a run of another command, config or pipeline, and for data that lack a
    pipeline.
    """
    config, data = beginning.config, beginning.data
    read_languages(data)
    if not (data / PIPELINE_FILE).is_file():
        raise InputError(f"{data / PIPELINE_FILE} is missing; remove {data} and give the same command again")
    run.mkdir(parents=True, exist_ok=True)
    if not has_checkpoint(run):
        forget_beginning(run)
    check_config(run, config)
    keep_pipeline(run, data)
    check_same_run(run, beginning.command, beginning.further)
    keep_config(run, config)
    if not (run / RECORD_FILE).is_file():  # a run that goes on keeps the record of its start
        write_json(run / RECORD_FILE, beginning.record())
    base = beginning.adapted_from
    if base and (base / HYPOTHESES).is_dir() and differing(base / HYPOTHESES, run / BEFORE):
        with replacing_folder(run / BEFORE) as before:
            shutil.copytree(base / HYPOTHESES, before, dirs_exist_ok=True)


def keep_pipeline(run: Path, data: Path) -> None:
    """Copy the text pipeline of data into a run; `InputError` if the run was trained with another."""
    pipeline = run / PIPELINE_FOLDER
    if not pipeline.is_dir():
        with new_folder(pipeline) as part:
            for path in chain.from_iterable(map(data.glob, PIPELINE)):
                shutil.copyfile(path, part / path.name)
    elif changed := differing(pipeline, data):
        raise InputError(
            f"{run} was trained with another {changed[0]} than that of {data}; remove the run and train it "
            "again"
        )


def check_same_run(run: Path, command: str, further: Mapping[str, Any]) -> None:
    """`InputError` if a run with checkpoints was made by another command, or by one of `ORIGINS` goes back to
    another model, than `further` says of a run to be made.
    """
    if not has_checkpoint(run) or not (run / RECORD_FILE).is_file():
        return
    record = read_record(run)
    if not same_command(made := record.get("command") or "", command):
        raise InputError(
            f"{run} is another run, made by '{made}', and not by '{command}'; choose another name with "
            "--name, or remove the run to have it made again"
        )
    for key, did in ORIGINS.items():
        before, now = (models_of(of.get(key)) for of in (record, further))
        if before and now and before != now:
            raise InputError(
                f"{run} {did} another model than is now at {further[key]['run']}; choose another name with "
                "--name, or remove the run to have it made again"
            )


def models_of(origin: Any) -> list[str]:
    """The checksums of the models that a run goes back to, as a record describes them; none where it does
    not, as older ones.
    """
    if not isinstance(origin, Mapping):
        return []
    own = [str(origin["model"])] if origin.get("model") else []
    return [*own, *chain.from_iterable(map(models_of, origin.get("beside", [])))]


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
    """`InputError` if the run was made with another config of that name, unless that differs in comments, or
    in where the text is, whose content is compared elsewhere.
    """
    kept = run / CONFIG_FILE
    if kept.is_file() and settings_in(kept) != settings_in(config):
        raise InputError(
            f"{run} was made with another {config.name}; remove the folder, or give the config a new name"
        )


def settings_in(config: Path) -> list[bytes]:
    """The lines of a config that say how something is made."""
    lines = config.read_bytes().splitlines()
    return [line for line in lines if line.strip() and not line.startswith((b"#", *PLACES))]


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
