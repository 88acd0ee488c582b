"""An experiment: a config, and the folder with the text and the data that its runs share."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zsnmt.runs.folder import TEXT_FOLDER, check_place, check_system_name
from zsnmt.runs.start import Beginning, start_run
from zsnmt.training.config import Config, read_config

MADE_FOR = "made_for"  # the file beside text and data that an adaptation has made


@dataclass(frozen=True)
class Experiment:
    """The settings, the file they stand in, and the folder of all that is made with them."""

    config: Config
    file: Path
    folder: Path

    @property
    def text(self) -> Path:
        """Parallel text, the training pairs without overlap with held-out sets."""
        return self.folder / TEXT_FOLDER

    @property
    def data(self) -> Path:
        """The text, binarised."""
        return self.folder / "data"

    @property
    def is_adaptation(self) -> bool:
        """Whether text and data are those that `zsnmt adapt` has made."""
        return (self.folder / MADE_FOR).is_file()

    def run(self, system: str, seed: int) -> Path:
        """The folder of a run; `InputError` for a system whose name is not that of a folder of its own, and
        for a folder that fairseq could not read.
        """
        check_system_name(system)
        check_place(run := self.folder / system / f"seed{seed}")
        return run

    def start(self, system: str, seed: int, *, command: str, **further: Any) -> None:
        """Make the folder of a run on the text and the data of this experiment; `further` is as of
        `Beginning`.
        """
        beginning = Beginning(
            self.file, self.data, self.text, system=system, seed=seed, command=command, **further
        )
        start_run(self.run(system, seed), beginning)


def read_experiment(file: Path, runs: Path, variables: Mapping[str, str]) -> Experiment:
    """The experiment of a config, which lives in `runs`; `InputError` for a config that breaks a rule, and
    for a folder whose runs fairseq could not read.
    """
    check_place(folder := runs / file.stem)
    return Experiment(read_config(file, variables), file, folder)
