"""The experiment of an adapted run that teaches: text and data stay as `zsnmt adapt` has made them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from zsnmt.data.directions import directions_with_data
from zsnmt.errors import InputError
from zsnmt.languages import read_languages
from zsnmt.training.data import hold
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps, read_marker

REMEDY = "give the command of the adaptation again, which makes it"


def with_all_languages(steps: Steps, experiment: Experiment) -> Experiment:
    """The experiment of an adaptation with the languages of its data, of which its config names the pivot and
    the new ones alone; any other as it is.

    Waits for a process that makes the data. Raises `InputError` where they are not there, or of another
    config.
    """
    if not experiment.is_adaptation:
        return experiment
    with hold(steps, experiment.folder, experiment.file):
        for folder in (experiment.text, experiment.data):
            if not folder.is_dir() or read_marker(experiment.folder, folder.name) is None:
                raise InputError(f"{folder} is not there, or was not made to the end; {REMEDY}")
        languages = tuple(read_languages(experiment.data))
    return replace(experiment, config=replace(experiment.config, languages=languages))


def check_directions(data: Path, authentic: Sequence[str], languages: Sequence[str]) -> None:
    """`InputError` for directions of a training whose text is not among the data, which may have been made
    for another adaptation since.
    """
    there = directions_with_data(data, "train", [*languages])
    if without := [direction for direction in authentic if direction not in there]:
        raise InputError(f"{data} has no training text for {', '.join(without)}; {REMEDY}")
