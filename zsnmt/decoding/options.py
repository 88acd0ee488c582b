"""The choice of an engine, as commands take it."""

import argparse
from dataclasses import dataclass

from zsnmt.errors import InputError

AUTO, PYTORCH, CTRANSLATE2, FAIRSEQ = ENGINES = ("auto", "pytorch", "ctranslate2", "fairseq")
FLOAT32, INT8 = PRECISIONS = ("float32", "int8")


@dataclass(frozen=True)
class EngineChoice:
    """What translates, in which precision, and with how many threads of work; None for what suits the folder and the machine.

    Raises `InputError` for an engine or a precision that there is not, and for fewer than one worker.
    """

    engine: str | None = None
    precision: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        for value, values, what in ((self.engine, ENGINES, "engine"), (self.precision, PRECISIONS, "precision")):
            if value is not None and value not in values:
                raise InputError(f"there is no {what} '{value}'; choose {', '.join(values)}")
        if self.workers is not None and self.workers < 1:
            raise InputError(f"{self.workers} workers cannot work; give one or more")


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add `--engine`, `--precision` and `--workers`."""
    parser.add_argument("--engine", choices=ENGINES,
                        help="pytorch; ctranslate2, for which a run is exported when there is no export of it yet; auto, the latter where "
                             "it is installed and knows the model; fairseq, the reference (default: pytorch, and ctranslate2 for an export)")  # fmt: skip
    parser.add_argument("--precision", choices=PRECISIONS,
                        help="of the weights; int8 is several times as fast, and changes some translations (default: float32, and that of an export)")
    parser.add_argument("--workers", type=int, metavar="N", help="how many batches are translated at once, by a thread each (default: one a core)")


def engine_choice(options: argparse.Namespace) -> EngineChoice:
    """What the options say."""
    return EngineChoice(options.engine, options.precision, options.workers)
