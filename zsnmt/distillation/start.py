"""The run that a student begins with: a trained one, or one that is still to be trained, so that what speaks
against its student is found before its training.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torch import Size

from zsnmt.runs.folder import MODEL_FILE
from zsnmt.runs.systems import System
from zsnmt.training.config import Config
from zsnmt.training.fairseq_options import training_options
from zsnmt.training.model_check import data_of_tags, named_directions, sizes_of_model


class Start(Protocol):
    """What a student's options and its first weights depend on.

    `options`: those of the run's training, but for what is of that training alone; `remedy`: the one that
    they have; `sizes`: of its weights, by name.
    """

    @property
    def run(self) -> Path: ...
    @property
    def model(self) -> Path: ...
    @property
    def architecture(self) -> str: ...
    @property
    def options(self) -> Sequence[str]: ...
    @property
    def remedy(self) -> str: ...
    @property
    def sizes(self) -> Mapping[str, Size]: ...


@dataclass(frozen=True)
class PlannedRun:
    """A run that is not trained yet."""

    run: Path
    architecture: str
    options: Sequence[str]
    sizes: Mapping[str, Size]
    remedy: str = ""

    @property
    def model(self) -> Path:
        """Where its model will be."""
        return self.run / MODEL_FILE


def plan_run(system: System, run: Path, config: Config) -> PlannedRun:
    """The run of a system that is still to be trained; `InputError` where there is no model."""
    given = [*config.fairseq_options, *system.options]
    with data_of_tags(config.languages) as data:
        read = named_directions(training_options(system.architecture, given), config.languages, data)
        return PlannedRun(run, system.architecture, given, sizes=sizes_of_model(read))
