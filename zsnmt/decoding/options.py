"""Options of translation: how to search, and by which engine."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from zsnmt.decoding.length_penalty import FORMS
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.processes import cores

AUTO, PYTORCH, CTRANSLATE2, FAIRSEQ = ENGINES = ("auto", "pytorch", "ctranslate2", "fairseq")
FLOAT32, INT8, FLOAT16 = PRECISIONS = ("float32", "int8", "float16")
CPU_PRECISIONS = (FLOAT32, INT8)
SEARCH_OPTIONS = ("beam", "length_penalty", "length_penalty_form")  # fields of `Search`
BATCH_TOKENS, BATCH_SENTENCES = 4000, 64  # of the sources in a batch, about; and at most
LARGER_ON_A_GPU = 8  # times as many of either, at most
# Free bytes for each, of one model with the default beam; one of the papers' size takes half of them for
# outputs of 62 tokens.
GPU_MEMORY_OF_A_BATCH = 2 * 10**9


@dataclass(frozen=True)
class EngineChoice:
    """What translates, in which precision, and with how many threads of work, or GPUs; None for what suits
    the folder and the machine. `beside`: runs whose models translate together with that of the folder.

    Raises `InputError` for an engine or a precision that there is not, for fewer than one worker, and for an
    engine that searches with one model.
    """

    engine: str | None = None
    precision: str | None = None
    workers: int | None = None
    gpus: int = 1  # at most; without one, processors translate
    beside: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        for value, values, what in (
            (self.engine, ENGINES, "engine"),
            (self.precision, PRECISIONS, "precision"),
        ):
            if value is not None and value not in values:
                raise InputError(f"there is no {what} '{value}'; choose {', '.join(values)}")
        if self.workers is not None and self.workers < 1:
            raise InputError(f"{self.workers} workers cannot work; give one or more")
        if self.beside and self.engine in (CTRANSLATE2, FAIRSEQ):
            raise InputError(
                f"--engine {self.engine} searches with one model; leave out --with, or take --engine "
                f"{PYTORCH}"
            )

    @property
    def at_once(self) -> int:
        """How many batches are translated at once: one for each core that this process may use, unless
        chosen.
        """
        return self.workers or cores()


def add_search_options(parser: argparse.ArgumentParser, of_config: bool = False) -> None:
    """Add `--beam`, `--length-penalty` and `--length-penalty-form`; None unless they are given. The help says
    whether a config may choose them.
    """
    default = "default: the config's, or " if of_config else "default: "
    parser.add_argument(
        "--beam", type=int, metavar="N", help=f"hypotheses kept at each step ({default}{Search.beam})"
    )
    parser.add_argument(
        "--length-penalty",
        type=float,
        metavar="ALPHA",
        help="exponent of the length by which log-probabilities are divided "
        f"({default}{Search.length_penalty})",
    )
    parser.add_argument(
        "--length-penalty-form",
        choices=FORMS,
        help="the power is that of the length, or gnmt: of (5 + length) / 6 "
        f"({default}{Search.length_penalty_form})",
    )


def chosen_search(options: argparse.Namespace) -> Search:
    """The search that the options ask for; `InputError` for values out of range."""
    return Search(**{name: value for name in SEARCH_OPTIONS if (value := getattr(options, name)) is not None})


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add `--engine`, `--precision` and `--workers`."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help="pytorch; ctranslate2, for which a run is exported first if it has no up-to-date export; auto, "
        "ctranslate2 if the run has such an export, else pytorch; fairseq, the reference (default: pytorch, "
        "and for an export the engine of its format)",
    )
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        help="of the weights; int8, on a CPU, and float16, on a GPU, are faster, and change some "
        "translations (default: float32, and that of an export)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="how many batches are translated at once, by one thread each (default: one for each core)",
    )


def add_beside(parser: argparse.ArgumentParser, whose: str) -> None:
    """Add `--with`, the runs that translate together with another, whose name is that of the help."""
    parser.add_argument(
        "--with",
        dest="beside",
        nargs="+",
        action="extend",
        type=Path,
        default=[],
        metavar="RUN",
        help=f"further runs, of the same text and subwords, which translate together with {whose} as an "
        "ensemble: the mean of their probabilities. It takes the time of all of them",
    )


def engine_choice(options: argparse.Namespace, gpus: int = 1) -> EngineChoice:
    """The engine that the options ask for, on so many GPUs; `InputError` for fewer than one worker, and for
    an engine that does not use several GPUs.
    """
    if gpus > 1 and options.engine in (AUTO, CTRANSLATE2):
        raise InputError(
            f"--engine {options.engine} does not share its work among GPUs; leave it out, or give --gpus 1"
        )
    return EngineChoice(
        engine=options.engine,
        precision=options.precision,
        workers=options.workers,
        gpus=gpus,
        beside=tuple(getattr(options, "beside", ())),
    )
