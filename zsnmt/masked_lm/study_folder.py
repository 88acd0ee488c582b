"""The settings of a study of position encodings, and the folder in which all is that is made with them."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zsnmt.masked_lm.config import StudyConfig
from zsnmt.masked_lm.runs import score_file


@dataclass(frozen=True)
class Study:
    """The settings, the file they stand in, and the folder of all that is made with them."""

    config: StudyConfig
    file: Path
    folder: Path

    def grid(self) -> Iterator[tuple[str, str, int]]:
        """Condition, system and seed of every run, in the order of a table."""
        return itertools.product(self.config.conditions, self.config.systems, self.config.seeds)

    def run(self, condition: str, system: str, seed: int) -> Path:
        """The folder of a run."""
        return self.folder / condition / system / f"seed{seed}"

    def is_scored(self, condition: str, system: str, seed: int) -> bool:
        """Whether a run has its scores."""
        return score_file(self.run(condition, system, seed)).is_file()

    def data(self, condition: str) -> Path:
        """The binarised data of a condition."""
        return self.folder / "data" / condition

    def text(self, condition: str, split: str) -> Path:
        """The prefix of the text that is made of trees, and of the file with their counts."""
        return self.folder / "text" / f"{condition}.{split}"

    def order(self, name: str) -> Path:
        """The prefix of the permutation models of a language, or of the text's own (`own`)."""
        return self.folder / "orders" / name
