"""Runs of the study of Ravishankar and Søgaard (2021).

A run has a *condition*, the second language, and a *system*, a position encoding or an ablation of the
learned one.
"""

from collections.abc import Mapping
from math import ceil
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.kinds import check_kinds
from zsnmt.files.records import damage_of, read_json, write_json
from zsnmt.runs.folder import RECORD_FILE, commit, versions
from zsnmt.runs.start import check_config, keep_config
from zsnmt.runs.systems import MASKED_LM

COUNTS_FILE = "counts.json"  # in a folder of data: the lines of each split and language
SCORES_FILE, FORMER_SCORES_FILE = "masked_lm.json", "compression.json"  # the second in runs of version 0.1


def read_counts(data: Path, remedy: str) -> dict[str, int]:
    """The lines of each text of a folder of data; `InputError` with the remedy if it does not say them."""
    counts = read_json(data / COUNTS_FILE, remedy)
    with damage_of(data / COUNTS_FILE, remedy):
        check_kinds(counts, dict.fromkeys(counts, int))
    return counts


def score_file(run: Path) -> Path:
    """The score file of a run: the one that is there, or the one to write."""
    former = run / FORMER_SCORES_FILE
    return former if former.is_file() else run / SCORES_FILE


def check_system(name: str) -> tuple[str, ...]:
    """fairseq's options for a system; `InputError` for an unknown one."""
    if name not in MASKED_LM:
        raise InputError(f"there is no system '{name}'; choose from {', '.join(MASKED_LM)}")
    return MASKED_LM[name]


def read_record(run: Path, verb: str) -> dict:
    """What run.json says of a run that a verb made; `InputError` if there is none."""
    kinds = {**dict.fromkeys(("config", "condition", "system", "command", "commit"), str), "seed": int}
    return read_json(run / RECORD_FILE, f"make a run folder with zsnmt {verb}", kinds)


def start_run(run: Path, config: Path, condition: str, system: str, seed: int, command: str) -> None:
    """Make a run folder: the config as used, and run.json with command, commit and versions; what is there
    already stays.

    Raises `InputError` if the folder holds a run of another config.
    """
    check_system(system)
    run.mkdir(parents=True, exist_ok=True)
    check_config(run, config)
    if (run / RECORD_FILE).is_file():
        return
    record = {
        "config": config.stem,
        "condition": condition,
        "system": system,
        "seed": seed,
        "command": command,
    }
    keep_config(run, config)
    write_json(run / RECORD_FILE, record | {"commit": commit(), "versions": versions()})


def updates_of(counts: Mapping[str, int], batch: int, epochs: int) -> int:
    """How many updates so many epochs of batches (lines) are, by the lines of the splits (`train`, or
    `train.en` and others).
    """
    lines = sum(number for name, number in counts.items() if name.startswith("train"))
    return ceil(lines / batch) * epochs
