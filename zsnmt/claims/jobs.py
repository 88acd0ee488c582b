"""A job of the plan, done."""

import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from zsnmt.claims.plan import FOLDER, HOURS_FILE, REMEDY, Job, Places, read_hours
from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.files.records import read_json, write_json
from zsnmt.masked_lm.report.xnli import SCORES_FILE as INFERENCE_SCORES
from zsnmt.masked_lm.runs import SCORES_FILE as MASKED_LM_SCORES
from zsnmt.runs.score_file import SCORES_FILE
from zsnmt.training.children import describe_ending, start
from zsnmt.training.steps import Steps


def do_jobs(steps: Steps, jobs: Sequence[Job], places: Places) -> None:
    """Do some jobs, one after the other, the others also where one fails; at the end `InputError` for those
    that did.
    """
    faults = []
    for job in jobs:
        try:
            do_job(steps, job, places)
        except InputError as error:
            faults.append(str(error))
    if faults:
        raise InputError("; ".join(faults))


def do_job(steps: Steps, job: Job, places: Places) -> None:
    """Do the commands of a job and keep the results; `InputError` for a command that fails, with the file
    where it says why.
    """
    folder = places.runs / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{job.name}.log"
    steps.say(f"{job.name}, for {', '.join(job.claims)}: about {job.hours:.1f} hours; {log}")
    with log.open("ab") as output:
        with timed(spent := folder / f"{job.name}.hours.json"):
            for command in job.commands(places.runs):
                call([in_project(word, places) for word in shlex.split(command)[1:]], output)
        runs = map(str, scored_runs(job, places))
        call(["results", *runs, "--keep-only", "--to", str(places.kept)], output)
        hours = hours_spent(spent)
        with locked(folder, steps.say):  # one job at a time adds its hours
            write_json(
                folder / HOURS_FILE, {**read_hours(places.runs), job.name: [job.expected_hours, hours]}
            )
        spent.unlink()
    steps.say(f"{job.name} is done, in {hours:.1f} hours")


def make_documents(steps: Steps, places: Places) -> None:
    """Make the tables of documents of all results that are kept."""
    folder = places.runs / FOLDER
    steps.say("the tables of all results")
    with locked(folder, steps.say), (folder / "tables.log").open("ab") as output:
        call(["results"], output)


@contextmanager
def timed(file: Path) -> Iterator[None]:
    """Add the hours that the block takes, however it ends, to those in a file, for a job that was stopped."""
    before, began = hours_spent(file), time.monotonic()
    try:
        yield
    finally:
        write_json(file, {"hours": before + (time.monotonic() - began) / 3600})


def hours_spent(file: Path) -> float:
    """The hours that a job has taken so far."""
    return read_json(file, REMEDY, {"hours": float})["hours"] if file.is_file() else 0.0


def in_project(word: str, places: Places) -> str:
    """A word of a command, where it names a config of the project as that wherever the command is given."""
    return str(places.project / word) if word.startswith("configs/") else word


def call(words: Sequence[str], output: BinaryIO) -> None:
    """Do what `zsnmt` does with these words; `InputError` if it fails, naming the file of its output."""
    with start([sys.executable, "-m", "zsnmt", *words], output) as process:
        status = process.wait()
    if status:
        raise InputError(
            f"zsnmt {shlex.join(words)} {describe_ending(status)}; the end of {output.name} says why"
        )


def scored_runs(job: Job, places: Places) -> Iterator[Path]:
    """The runs of the job's configs and seed that have scores."""
    for config in job.need.configs:
        for name in (SCORES_FILE, MASKED_LM_SCORES, INFERENCE_SCORES):
            for path in sorted((places.runs / config.stem).rglob(f"seed{job.seed}/{name}")):
                yield path.parent
