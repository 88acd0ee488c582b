"""What is distilled, into whom, and how."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zsnmt.decoding.methods.kinds import Ensemble
from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.options import FLOAT32, PYTORCH, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.runs.remedies import TOGETHER, options_of_remedy
from zsnmt.runs.systems import ALL, BETWEEN, BOTH, NONE, SELF, SOURCES, TARGETS

if TYPE_CHECKING:
    from zsnmt.training.config import Config

BACK = "back"  # translations as sources of the pivot's sentences
SIDES = {  # also the names of the folders of their data
    ALL: (TARGETS, SOURCES, BACK),
    BOTH: (TARGETS, SOURCES),
    BETWEEN: (TARGETS, SOURCES, BETWEEN),
    TARGETS: (TARGETS,),
    SOURCES: (SOURCES,),
    NONE: (),
    SELF: (TARGETS, SOURCES),
}
ANY = "none"  # the identifier that accepts whatever language a translation is in
HELD_OUT = 200  # lines of each language that synthetic directions are validated on
SEED = 1  # of the choice of lines, the same for all students so that they share one synthetic text


@dataclass(frozen=True)
class SyntheticSettings:
    """All that synthetic text depends on beside the teacher and the authentic text.

    `direct`: the teacher translates a sentence directly, else its English (pivot) side. `way`: by this
    method; by an ensemble it reads the sentence and its English as two sources of one translation. `lines` of
    each language are translated, None for all, and `held_out` more at most. `identifier` is that of scoring,
    or `none`. Raises InputError for numbers out of range, and a way that does not go with the rest.
    """

    direct: bool = False
    way: Method | None = None
    lines: int | None = None
    held_out: int = HELD_OUT
    identifier: str = ANY
    search: Search = Search()
    engine: EngineChoice = EngineChoice()

    def __post_init__(self) -> None:
        if self.lines is not None and self.lines < 1:
            raise InputError(f"{self.lines} lines teach nothing; give 1 or more, or leave it out to have all")
        if self.held_out < 0:
            raise InputError(f"{self.held_out} lines cannot be held out; give 0 or more")
        if self.ensemble and self.direct:
            raise InputError(
                "--sides self is of a teacher that reads one sentence, and an ensemble reads two; leave out "
                "--way, or choose other sides"
            )
        if self.ensemble and self.ensemble.through != Ensemble.through:
            raise InputError(
                "a teacher's ensemble reads a sentence and the pivot's beside it, and no other language; "
                "leave out through="
            )
        if self.way and self.way.kind.is_drawn and self.way.search(self.search).beam > 1:
            raise InputError(
                f"--way {self.way.name} draws one translation, not {self.search.beam}; give --beam 1, or "
                f"--way {self.way.name}:beam=1"
            )

    @property
    def ensemble(self) -> Ensemble | None:
        """That by which the teacher reads a sentence and its English for one translation, if it does."""
        several = self.way and self.way.several
        return several if isinstance(several, Ensemble) else None

    @property
    def reads_authentic(self) -> bool:
        """Whether the teacher reads the sentence that people wrote, alone or beside its English."""
        return self.direct or self.ensemble is not None

    def to_json(self) -> dict:
        """As synthetic.json says them, without what does not change a translation."""
        engine = {"engine": self.engine.engine or PYTORCH, "precision": self.engine.precision or FLOAT32}
        settings = {**asdict(self), "engine": engine, "seed": SEED}
        del settings["way"]  # which older text has not
        return {**settings, "way": {"name": self.way.name, **self.way.settings}} if self.way else settings


@dataclass(frozen=True)
class Distillation:
    """How the run `teacher` teaches a student.

    `sides`: one of `SIDES`. The student begins with the weights of the run `start`, the teacher by default,
    or `from_scratch`, and has the architecture `student`, by default that of the run that it begins with;
    with `language_blocks` it has these also where that run has none. `share` (0–1) of the pairs of an epoch
    are synthetic. Without sides it may learn `few_lines` of people in each direction that has no text.
    `remedy`: one of the grid's, or several with + between, whose options the training has. `word_level`: the
    weight of word-level distillation. `epochs`: that many in place of the config's.

    Raises InputError for values that there are not, and for those that do not go together.
    """

    teacher: Path
    sides: str = BOTH
    student: str | None = None
    start: Path | None = None
    from_scratch: bool = False
    language_blocks: bool = False
    share: float = 0.5
    few_lines: int = 0
    remedy: str = ""
    word_level: float = 0.0
    epochs: int | None = None
    synthetic: SyntheticSettings = SyntheticSettings()

    def __post_init__(self) -> None:
        if self.sides not in SIDES:
            raise InputError(f"there are no sides '{self.sides}'; choose {', '.join(SIDES)}")
        if self.beside and self.sides == NONE:
            raise InputError(
                f"--with names runs that translate together with the teacher, and --sides {NONE} has no "
                "translations; leave one of them out"
            )
        if not 0 < self.share < 1:
            raise InputError(
                f"a share of {self.share:g} leaves out authentic or synthetic text; give one above 0 and "
                "below 1, or --sides none"
            )
        if self.start and self.from_scratch:
            raise InputError(
                f"--start-from {self.start} names the weights that the student begins with, and "
                "--from-scratch wants none; leave one of them out"
            )
        if self.start and self.sides == NONE:
            raise InputError(
                f"--sides {NONE}, which --remedy means too, has nothing of the teacher but its weights, and "
                "--start-from names others; name other sides, or leave out --start-from and give "
                f"{self.start} as the teacher"
            )
        _ = options_of_remedy(self.remedy)  # which refuses what there is not
        remedies = self.remedy.split(TOGETHER)
        if {"denoising", "from_pivot"} <= {*remedies}:
            raise InputError(
                f"--remedy {self.remedy} has nothing to restore: denoising is of pairs into the pivot, which "
                "from_pivot leaves out; leave one of them out"
            )
        if self.from_scratch and "from_pivot" in remedies:
            raise InputError(
                "--remedy from_pivot trains on translations of the pivot alone, by which a model "
                "--from-scratch learns to read no other language; leave one of them out"
            )
        if not 0 <= self.word_level < math.inf:  # which no NaN is
            raise InputError(f"--word-level {self.word_level:g} is not a weight; give a number, 0 or more")
        if self.word_level and self.sides in (SELF, NONE):
            raise InputError(
                f"--word-level is of translations of the pivot, and --sides {self.sides} has none; leave "
                "one of them out"
            )
        if self.few_lines and self.sides != NONE:
            raise InputError(
                f"{self.few_lines} lines of people and --sides {self.sides} are for the same directions; "
                "give --sides none, or leave out --few-lines"
            )

    @property
    def beside(self) -> tuple[Path, ...]:
        """Runs that translate together with the teacher."""
        return self.synthetic.engine.beside

    @property
    def uses(self) -> tuple[str, ...]:
        """What synthetic halves are used as."""
        return SIDES[self.sides]


def choose_distillation(
    config: "Config", teacher: Path, *, sides: str | None = None, remedy: str = "", **given: Any
) -> Distillation:
    """The one that a config asks for where nothing else is given; None for what is not.

    The config's lines of people are for training further without synthetic text, and its weight of word-level
    distillation is for translations of the pivot.
    """
    sides = sides or default_sides(remedy)
    of_config: dict[str, Any] = {
        "few_lines": config.few_lines if sides == NONE else 0,
        "word_level": 0.0 if sides in (NONE, SELF) else config.word_level,
        "synthetic": SyntheticSettings(identifier=config.identifier),
    }
    said = of_config | {name: value for name, value in given.items() if value is not None}
    return Distillation(teacher, sides=sides, remedy=remedy, **said)


def default_sides(remedy: str) -> str:
    """The sides unless told: a remedy is of training further."""
    return NONE if remedy else Distillation.sides


def check_taught(directions: Sequence[Direction], text: Path) -> None:
    """`InputError` for text that leaves no directions to teach."""
    if not directions:
        raise InputError(
            f"{text} has no two languages with training text with the pivot and none with each other, so "
            "that translations of a teacher have nothing to teach; train further by zsnmt distill --sides "
            "none"
        )
