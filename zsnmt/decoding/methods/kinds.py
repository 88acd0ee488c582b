"""The kinds of methods: what is searched together for one output, and how its candidates are made.

A new kind is a class here, and in `combination` what of it needs PyTorch; where it reads something besides
the sentence, in `zsnmt.inference.bundles`, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from zsnmt.errors import InputError
from zsnmt.languages import Direction, check_known, check_language

VOTE, AVERAGE = COMBINATIONS = ("vote", "average")
PIVOT, SOURCE = "pivot", "source"  # stand for the model's first language, and for that of the sentence
MOST_SOURCES = 3


@dataclass(frozen=True)
class Kind:
    """A sentence alone, by the search itself; what is different with other kinds, they say."""

    name: ClassVar[str] = "search"
    needs_source: ClassVar[bool] = False  # whether the language of the source must be known
    has_probabilities: ClassVar[bool] = True  # whether scores are log-probabilities, to which a mask may add
    is_drawn: ClassVar[bool] = False  # whether there is one hypothesis alone, which depends on its batch

    @property
    def reads_others(self) -> bool:
        """Whether the translation of a line depends on another line of the text."""
        return False

    @property
    def through(self) -> tuple[str, ...]:
        """The languages in which translations of the sentence are read besides."""
        return ()

    def pivots(self, direction: Direction) -> list[str]:
        """Those of a direction, which leaves out its own two."""
        return [language for language in self.through if language not in direction]

    def of(self, known: Sequence[str]) -> Self:
        """That of a model of these languages, the pivot first; `InputError` for others."""
        return self

    def fault(self, direction: Direction) -> str | None:
        """Why a direction cannot be translated so; None where it can."""
        return None

    def check_renormalised(self) -> None:
        """`InputError` for what does not go with a mask that renormalises."""


@dataclass(frozen=True)
class Ensemble(Kind):
    """A sentence and its translations into other languages, by the same model, as sources of one output (Wen
    et al. 2025).

    `through`: these languages, of which a direction leaves out its own two; `by`: their bi-level beam search
    (`vote`), or the `average` of the probabilities. Raises InputError for more than two languages, what is
    not a language or is named twice, and another `by`.
    """

    name = "ensemble"
    needs_source = True
    through: tuple[str, ...] = (PIVOT,)
    by: str = VOTE

    def __post_init__(self) -> None:
        check_languages("through", self.through)
        if len(self.through) >= MOST_SOURCES:
            raise InputError(
                f"an ensemble through {'+'.join(self.through)} has more than {MOST_SOURCES} sources, that of "
                "the sentence among them, and takes as many times as long; name at most "
                f"{MOST_SOURCES - 1} languages"
            )
        if self.by not in COMBINATIONS:
            raise InputError(f"there is no ensemble by '{self.by}'; write by={' or by='.join(COMBINATIONS)}")

    def of(self, known: Sequence[str]) -> Self:
        """That of a model of these languages, the pivot first; `InputError` for others."""
        return replace(self, through=named(self.through, known))

    def fault(self, direction: Direction) -> str | None:
        """Why a direction cannot be translated so: where it has no pivot."""
        if self.pivots(direction):
            return None
        return (
            f"an ensemble through {'+'.join(self.through)} has no second source from {direction.source} into "
            f"{direction.target}: it goes through a language that is neither; translate directly, or name "
            "another with through="
        )


@dataclass(frozen=True)
class Contrast(Kind):
    """What the model would write into other languages, or for another sentence, is made less probable
    (Sennrich et al. 2024).

    `languages`: those other languages, `source` among them, of which a direction leaves out its target. Each
    has the `language_weight`, and another sentence of the text, the next one, the `source_weight`. Raises
    InputError for what is not a language or is named twice, and a weight that is not at least 0 and below 1.
    """

    name = "contrast"
    needs_source = True
    has_probabilities = False  # but differences of them
    languages: tuple[str, ...] = (PIVOT, SOURCE)
    language_weight: float = 0.1
    source_weight: float = 0.7

    def __post_init__(self) -> None:
        check_languages("languages", self.languages)
        for name in ("language_weight", "source_weight"):
            if not 0 <= (value := getattr(self, name)) < 1:  # which no NaN is
                raise InputError(f"{name}={value} is not a weight; give a number from 0 to below 1")

    @property
    def reads_others(self) -> bool:
        """Whether another sentence is read."""
        return bool(self.source_weight)

    def of(self, known: Sequence[str]) -> Self:
        """That of a model of these languages, the pivot first; `InputError` for others."""
        return replace(self, languages=named(self.languages, [*known, SOURCE]))

    def contrasted(self, direction: Direction) -> list[str]:
        """The languages that a direction is contrasted with."""
        languages = [direction.source if language == SOURCE else language for language in self.languages]
        return [language for language in dict.fromkeys(languages) if language != direction.target]

    def fault(self, direction: Direction) -> str | None:
        """Why a direction cannot be translated so: where there is nothing to contrast it with."""
        if self.source_weight or self.language_weight and self.contrasted(direction):
            return None
        return (
            f"a contrast of {direction.target} with {'+'.join(self.languages)} is none: it needs a language "
            "that is not the target, and a weight; name one with languages=, with a language_weight above 0, "
            "or give a source_weight"
        )

    def check_renormalised(self) -> None:
        """`InputError` for a contrast of languages."""
        if self.language_weight:
            raise InputError(
                "renormalise=yes does not go with a contrast of languages: what the model would write into "
                "another language would be its probability among the target's pieces, not the formula's; "
                "leave renormalise out, or give language_weight=0"
            )


@dataclass(frozen=True)
class Sample(Kind):
    """Each piece is drawn by its probability among the `symbols` most probable ones (top-k sampling, Edunov
    et al. 2018); another `seed` draws others. Raises InputError for fewer than one symbol.
    """

    name = "sample"
    is_drawn = True
    symbols: int = 10
    seed: int = 1

    def __post_init__(self) -> None:
        if self.symbols < 1:
            raise InputError(f"symbols={self.symbols} leaves nothing to draw from; give 1 or more")


MASK = "mask"  # a mask alone, with the search of no other kind
KINDS: dict[str, type[Kind]] = {
    **{kind.name: kind for kind in (Ensemble, Contrast, Sample)},
    MASK: Kind,
    Kind.name: Kind,
}


def named(languages: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The languages, each once, the first of those that are known in the place of `pivot`."""
    return tuple(
        dict.fromkeys(
            known[0] if language == PIVOT else check_known(language, known) for language in languages
        )
    )


def check_languages(setting: str, languages: tuple[str, ...]) -> None:
    """`InputError` unless they are codes of languages, each once."""
    for language in languages:
        check_language(language)
    if len({*languages}) < len(languages):
        raise InputError(f"{setting}={'+'.join(languages)} names a language twice; name each once")
