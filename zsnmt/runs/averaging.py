"""Another mean of a trained run's checkpoints, as a run of its own beside it."""

import shlex
import shutil
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.files.records import write_json
from zsnmt.files.replacing import new_folder
from zsnmt.runs.checkpoints import average_checkpoints, best_checkpoints
from zsnmt.runs.checksums import CHECKSUMS_FILE, check_pipeline
from zsnmt.runs.commands import path_from_top
from zsnmt.runs.folder import (
    BEFORE,
    CHECKPOINTS,
    CONFIDENCE_FILE,
    MODEL_FILE,
    PIPELINE_FOLDER,
    RECORD_FILE,
    check_place,
    check_system_name,
    check_trained,
    read_record,
)
from zsnmt.runs.score_file import SCORES_FILE
from zsnmt.runs.validation import VALIDATION_FILE

# What is true of one model of a training, and no other.
OF_MODEL = CHECKSUMS_FILE, SCORES_FILE, CONFIDENCE_FILE, MODEL_FILE


def average_again(run: Path, number: int, name: str | None = None) -> Path:
    """Write the mean of the `number` best checkpoints of a trained run as a run beside it, whose system is
    called `name`, by default `SYSTEM_mean_of_NUMBER`; returns its folder.

    It has the text pipeline, the config and the log of the training, and can be scored and used like any
    run. Raises `InputError` for a run that has fewer checkpoints or in which another process is at work, for
    a name that cannot be a folder's, and for a folder that is there already.
    """
    check_trained(run)
    record = read_record(run)
    system = name or f"{record['system']}_mean_of_{number}"
    check_system_name(system)
    check_place(there := run.resolve().parent.parent / system / f"seed{record['seed']}")
    own = ["--name", system] * (name is not None)
    command = ["zsnmt", "average", path_from_top(run), "--number", str(number), *own]
    with locked(run):  # else a training that begins anew could replace some of the checkpoints
        check_pipeline(run)
        best = best_checkpoints(run / CHECKPOINTS, number)
        if len(best) < number:
            raise InputError(
                f"{run / CHECKPOINTS} has {len(best)} of the best checkpoints, and not {number}; give a "
                f"--number of {len(best)} or less"
            )
        with new_folder(there, "give another name by --name") as part:
            copy_training(run, part)
            write_json(
                part / RECORD_FILE,
                {**record, "system": system, "command": shlex.join(command), "checkpoints_averaged": number},
            )
            average_checkpoints(best, part / MODEL_FILE)
    return there


def copy_training(run: Path, folder: Path) -> None:
    """Copy what a run says of its training, and its text pipeline, into a folder."""
    shutil.copytree(run / PIPELINE_FOLDER, folder / PIPELINE_FOLDER)
    for file in [path for path in run.iterdir() if is_of_training(path)]:
        shutil.copyfile(file, folder / file.name)
    if (run / BEFORE).is_dir():
        shutil.copytree(run / BEFORE, folder / BEFORE)
    if (validations := run / CHECKPOINTS / VALIDATION_FILE).is_file():
        (folder / CHECKPOINTS).mkdir()
        shutil.copyfile(validations, folder / CHECKPOINTS / VALIDATION_FILE)


def is_of_training(path: Path) -> bool:
    """Whether a file of a run says of its training what is as true of another mean of its checkpoints."""
    return path.is_file() and path.name not in OF_MODEL and path.suffix != ".pt" and path.name[0] != "."
