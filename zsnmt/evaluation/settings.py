"""What an evaluation of a run is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from zsnmt.decoding.methods.settings import OWN_PIVOT_NAME, Method, parse_ways
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.scoring.options import Scoring

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


@dataclass(frozen=True)
class TextChoice:
    """What is translated and scored: a split of parallel text, that of the run by default.

    `directions`: all by default that have text and are of training or without the pivot. `lines`: the first
    ones only, all by default.
    """

    text: Path | None = None
    split: str = "test"
    directions: Sequence[Direction] | None = None
    lines: int | None = None

    def __post_init__(self) -> None:
        if self.lines is not None and self.lines < 1:
            raise InputError(f"{self.lines} lines cannot be scored; give 1 or more, or leave --lines out")


@dataclass(frozen=True)
class EvaluationSettings:
    """What is translated, how and by what, and how that is scored.

    `methods` translate besides, each what it can; with `own_pivot` a run goes through the pivot itself, too,
    where another run does so for it. `said`: the settings that a config or a person gives, by name, without
    those that are left to their defaults.
    """

    text: TextChoice = TextChoice()
    search: Search = Search()
    engine: EngineChoice = EngineChoice()
    scoring: Scoring = Scoring()
    methods: Sequence[Method] = ()
    own_pivot: bool = False
    said: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Mapping[str, Any], engine: EngineChoice = EngineChoice()) -> "EvaluationSettings":
        """Those that are given by name; `InputError` for values that there are not."""
        ways = said.get("ways", ())
        return cls(
            scoring=choose_settings(Scoring, said),
            methods=parse_ways(ways),
            own_pivot=OWN_PIVOT_NAME in ways,
            text=choose_settings(TextChoice, said),
            search=choose_settings(Search, said),
            engine=engine,
            said=said,
        )

    def of_step(self) -> dict[str, Any]:
        """What the step of an evaluation depends on besides its inputs."""
        return {**self.said, "engine": self.engine.engine, "precision": self.engine.precision}


def choose_settings(kind: type[T], settings: Mapping[str, Any]) -> T:
    """The settings of a kind, such as `Scoring`, among others by name; the defaults where there are none."""
    names = {field.name for field in fields(kind)}
    return kind(**{name: value for name, value in settings.items() if name in names})
