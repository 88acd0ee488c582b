"""What a run is made of: the checksums of its model and its text pipeline, which are kept in the run.

They are written when a training ends, and held against the files whenever the run is opened: a file that was
damaged, lost or exchanged is refused. Runs of version 0.1 have none, and are opened without.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256, unchanged
from zsnmt.files.records import read_json, write_json
from zsnmt.runs.folder import MODEL_FILE, PIPELINE_FOLDER

CHECKSUMS_FILE = "checksums.json"
REMEDY = "copy it again from where the run was trained"
OF_MODEL = f"{REMEDY}, or remove it and give the command that made the run again"


def read_checksums(run: Path) -> dict[str, str]:
    """The kept checksums, by the names of files in the run; empty for a run of version 0.1."""
    path = run / CHECKSUMS_FILE
    if not path.exists():
        return {}
    kept: object = read_json(path, "run the same command again: the run is opened without it")
    if not isinstance(kept, dict) or not all(isinstance(checksum, str) for checksum in kept.values()):
        raise InputError(f"{path} does not hold checksums; remove it: the run is opened without it")
    return kept


@contextmanager
def renew_checksums(model: Path) -> Iterator[None]:
    """Keep the checksums of the run whose model is written in the block; nothing for another file.

    If the block does not end, the run has none.
    """
    run, is_run_model = model.parent, model.name == MODEL_FILE and (model.parent / PIPELINE_FOLDER).is_dir()
    if is_run_model:
        (run / CHECKSUMS_FILE).unlink(missing_ok=True)
    yield
    if is_run_model:
        files = [model, *sorted(path for path in (run / PIPELINE_FOLDER).iterdir() if path.is_file())]
        write_json(run / CHECKSUMS_FILE, {str(path.relative_to(run)): sha256(path) for path in files})


def check_pipeline(run: Path) -> None:
    """`InputError` if the text pipeline of a run is not the one that it was trained with."""
    for name, checksum in read_checksums(run).items():
        if name == MODEL_FILE:
            continue
        if not (run / name).is_file():
            raise InputError(f"{run / name} is missing; {REMEDY}")
        check(run / name, sha256(run / name), checksum)


@contextmanager
def check_model(run: Path, name: str = MODEL_FILE) -> Iterator[str]:
    """The checksum of a run's model, or of another checkpoint in it, which is read in the block.

    `InputError` for another model than that of the run, and for one that is replaced in the meantime.
    """
    with unchanged(run / name) as checksum:
        check(run / name, checksum, read_checksums(run).get(name, checksum), remedy=OF_MODEL)
        yield checksum


def check_run(run: Path) -> None:
    """`InputError` if the text pipeline or the model of a run is not what its training wrote."""
    check_pipeline(run)
    with check_model(run):
        pass


def check(path: Path, found: str, kept: str, *, remedy: str = REMEDY) -> None:
    """`InputError` for a file whose checksum is not the kept one."""
    if found != kept:
        raise InputError(
            f"{path} is damaged, or another: it is not what the training of the run wrote; {remedy}, or, if "
            f"you changed it on purpose, remove {CHECKSUMS_FILE} of the run"
        )
