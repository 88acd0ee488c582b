"""The methods by their names and settings, as a person writes them: `ensemble:through=en,by=average`.

A method is an ensemble, a contrast, a sample, a mask, or a search with a beam of its own. The settings of a
mask, and the beam, may be given to all of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.languages import Direction, check_known, check_language

OWN_PIVOT_NAME = "own_pivot"  # the way of a scored run through the pivot by itself, which is not a method
VOTE, AVERAGE = COMBINATIONS = ("vote", "average")
PIVOT, SOURCE = "pivot", "source"  # stand for the model's first language, and for that of the sentence
MOST_SOURCES = 3
WHOLE, NUMBER, LANGUAGES = "a whole number", "a number", "language codes with + between"


@dataclass(frozen=True)
class Ensemble:
    """A sentence and its translations into other languages, by the same model, as sources of one output (Wen
    et al. 2025).

    `through`: these languages, of which a direction leaves out its own two; `by`: their bi-level beam search
    (`vote`), or the `average` of the probabilities. Raises InputError for more than two languages, what is
    not a language or is named twice, and another `by`.
    """

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

    def of(self, known: Sequence[str]) -> "Ensemble":
        """That of a model of these languages, the pivot first; `InputError` for others."""
        return replace(self, through=named(self.through, known))

    def pivots(self, direction: Direction) -> list[str]:
        """The languages that a direction goes through."""
        return [language for language in self.through if language not in direction]

    def fault(self, direction: Direction) -> str | None:
        """Why a direction cannot be translated so; None where it can."""
        if self.pivots(direction):
            return None
        return (
            f"an ensemble through {'+'.join(self.through)} has no second source from {direction.source} into "
            f"{direction.target}: it goes through a language that is neither; translate directly, or name "
            "another with through="
        )


@dataclass(frozen=True)
class Contrast:
    """What the model would write into other languages, or for another sentence, is made less probable
    (Sennrich et al. 2024).

    `languages`: those other languages, `source` among them, of which a direction leaves out its target. Each
    has the `language_weight`, and another sentence of the text, the next one, the `source_weight`. Raises
    InputError for what is not a language or is named twice, and a weight that is not at least 0 and below 1.
    """

    languages: tuple[str, ...] = (PIVOT, SOURCE)
    language_weight: float = 0.1
    source_weight: float = 0.7

    def __post_init__(self) -> None:
        check_languages("languages", self.languages)
        for name in ("language_weight", "source_weight"):
            if not 0 <= (value := getattr(self, name)) < 1:  # which no NaN is
                raise InputError(f"{name}={value} is not a weight; give a number from 0 to below 1")

    def of(self, known: Sequence[str]) -> "Contrast":
        """That of a model of these languages, the pivot first; `InputError` for others."""
        return replace(self, languages=named(self.languages, [*known, SOURCE]))

    def contrasted(self, direction: Direction) -> list[str]:
        """The languages that a direction is contrasted with."""
        languages = [direction.source if language == SOURCE else language for language in self.languages]
        return [language for language in dict.fromkeys(languages) if language != direction.target]

    def fault(self, direction: Direction) -> str | None:
        """Why a direction cannot be translated so; None where it can."""
        if self.source_weight or self.language_weight and self.contrasted(direction):
            return None
        return (
            f"a contrast of {direction.target} with {'+'.join(self.languages)} is none: it needs a language "
            "that is not the target, and a weight; name one with languages=, with a language_weight above 0, "
            "or give a source_weight"
        )


@dataclass(frozen=True)
class Sample:
    """Each piece is drawn by its probability among the `symbols` most probable ones (top-k sampling, Edunov
    et al. 2018); another `seed` draws others. Raises InputError for fewer than one symbol.
    """

    symbols: int = 10
    seed: int = 1

    def __post_init__(self) -> None:
        if self.symbols < 1:
            raise InputError(f"symbols={self.symbols} leaves nothing to draw from; give 1 or more")

    def of(self, known: Sequence[str]) -> "Sample":
        """That of a model of these languages, which is the same for all."""
        return self

    def fault(self, direction: Direction) -> str | None:
        """Why a direction cannot be translated so: each can."""
        return None


@dataclass(frozen=True)
class Mask:
    """Only pieces that occur at least `pieces` times in the target language's training text, and those
    without a letter, are written; with a `penalty` others may be, for so many nats each.

    With `prefer` none is forbidden: each costs so many times the logarithm of how surely it belongs to the
    target language. With `renormalise` probabilities are those among these pieces; fairseq's search alone
    computes the others.

    Raises InputError for numbers out of range, and for settings that do not go together.
    """

    pieces: int = 1
    penalty: float | None = None
    prefer: float | None = None
    renormalise: bool = False

    def __post_init__(self) -> None:
        if self.renormalise and not self.forbids:
            raise InputError(
                "renormalise=yes is for a mask that forbids, and with a penalty or prefer= nothing is "
                "forbidden; leave one of them out"
            )
        if self.prefer is not None and (self.penalty is not None or self.pieces != Mask.pieces):
            raise InputError(
                "prefer= weighs every piece by its languages, and penalty= and pieces= are for those that "
                "the target language lacks; leave one of them out"
            )
        if self.prefer is not None and not 0 <= self.prefer < float("inf"):
            raise InputError(
                f"prefer={self.prefer} is not a weight; give a number, 0 or more, or leave it out"
            )
        if self.pieces < 1:
            raise InputError(f"pieces={self.pieces} leaves out no piece; give 1 or more")
        if self.penalty is not None and not 0 <= self.penalty < float("inf"):
            raise InputError(
                f"penalty={self.penalty} is not a penalty; give a number of nats, 0 or more, or leave it "
                "out, which forbids the pieces"
            )

    @property
    def forbids(self) -> bool:
        """Whether there are pieces that are never written."""
        return self.penalty is None and self.prefer is None


SEARCH, MASK = "search", "mask"  # the kinds without a part of their own
KINDS: dict[str, type[Ensemble] | type[Contrast] | type[Sample] | None] = {
    "ensemble": Ensemble,
    "contrast": Contrast,
    "sample": Sample,
    MASK: None,
    SEARCH: None,
}
BEAM = "beam"
READ: dict[str, tuple[Callable[[str], Any], str]] = {  # how the value of each setting is read, and what it is
    "through": (lambda value: tuple(value.split("+")), LANGUAGES),
    "by": (str, "a word"),
    "languages": (lambda value: tuple(value.split("+")), LANGUAGES),
    "language_weight": (float, NUMBER),
    "source_weight": (float, NUMBER),
    "symbols": (int, WHOLE),
    "seed": (int, WHOLE),
    "pieces": (int, WHOLE),
    "penalty": (float, NUMBER),
    "prefer": (float, NUMBER),
    "renormalise": (lambda value: bool(("no", "yes").index(value)), "yes or no"),
    BEAM: (int, WHOLE),
}


@dataclass(frozen=True)
class Method:
    """An ensemble, a contrast, a sample, or none of them, a mask or none, and a beam where that is not the
    one of all other ways.

    Raises InputError for a mask that renormalises beside a contrast of languages, and for a beam below 1.
    """

    several: Ensemble | Contrast | Sample | None = None
    mask: Mask | None = None
    beam: int | None = None

    def __post_init__(self) -> None:
        if self.beam is not None:
            self.search(Search())
        if self.renormalises and isinstance(self.several, Contrast) and self.several.language_weight:
            raise InputError(
                "renormalise=yes does not go with a contrast of languages: what the model would write into "
                "another language would be its probability among the target's pieces, not the formula's; "
                "leave renormalise out, or give language_weight=0"
            )

    @property
    def name(self) -> str:
        """The kind, by which it is called."""
        if self.several is None:
            return MASK if self.mask else SEARCH
        return next(name for name, kind in KINDS.items() if kind and isinstance(self.several, kind))

    @property
    def is_search(self) -> bool:
        """Whether it is direct translation, but for the beam."""
        return self.several is None and self.mask is None

    def search(self, search: Search) -> Search:
        """How it searches, where all other ways do so by `search`."""
        return search if self.beam is None else replace(search, beam=self.beam)

    @property
    def settings(self) -> Mapping[str, object]:
        """All that tells it from others of its kind, by name: without what goes without saying."""
        parts = [asdict(part) for part in (self.several, self.mask) if part]
        given = [each for part in parts for each in part.items()] + [(BEAM, self.beam)]
        settings = {name: value for name, value in given if value is not None and value is not False}
        for weight, *others in (("language_weight", "languages"), ("source_weight",)):
            if settings.get(weight) == 0:
                settings = {name: value for name, value in settings.items() if name not in (weight, *others)}
        return {name: value for name, value in settings.items() if (name, value) != ("by", VOTE)}

    @property
    def reads_others(self) -> bool:
        """Whether the translation of a line depends on another line of the text."""
        return isinstance(self.several, Contrast) and bool(self.several.source_weight)

    @property
    def needs_source(self) -> bool:
        """Whether the language of the source must be known."""
        return isinstance(self.several, Ensemble | Contrast)

    @property
    def renormalises(self) -> bool:
        """Whether a search is among the pieces of one language alone."""
        return self.mask is not None and self.mask.renormalise

    @property
    def has_probabilities(self) -> bool:
        """Whether its scores are log-probabilities, to which a mask may add; those of a contrast are of
        differences.
        """
        return not isinstance(self.several, Contrast)

    def fault(self, direction: Direction) -> str | None:
        """Why a direction cannot be translated so; None where it can."""
        return None if self.several is None else self.several.fault(direction)

    def fault_through(self, language: str) -> str:
        """Why a translation through a language is not made by the method, and what to do instead."""
        fault = f"a translation by {self.name} is not made through {language}"
        if isinstance(self.several, Ensemble):
            return (
                f"{fault}: it reads the sentence beside its translation, and on that way the translation "
                f"alone would be left; leave out --via, and give --way ensemble:through={language}"
            )
        return (
            f"{fault}: it is one translation, and on that way there are two; leave out one of the two, or "
            f"translate into {language} first, and what comes of it by {self.name}"
        )

    def of(self, known: Sequence[str]) -> "Method":
        """The method for a model of these languages, the pivot first; `InputError` for others."""
        return replace(self, several=self.several and self.several.of(known))


def parse_ways(ways: Sequence[str]) -> list[Method]:
    """The methods among the ways in which a run is scored; `InputError` for a way that is given twice, and
    for what is none.
    """
    methods = [parse_method(way) for way in ways if way != OWN_PIVOT_NAME]
    if len({*methods}) < len(methods) or [*ways].count(OWN_PIVOT_NAME) > 1:
        raise InputError(f"a way is given twice: {' '.join(ways)}; name each once")
    return methods


def parse_method(text: str) -> Method:
    """Read `mask`, `sample:symbols=5`, `ensemble:through=en+de` or `contrast:source_weight=0.5,pieces=2`;
    `InputError` for anything else.
    """
    name, _, rest = text.partition(":")
    if name not in KINDS:
        raise InputError(f"there is no way '{name}' to translate; choose {', '.join(KINDS)}")
    kind = KINDS[name]
    own, of_mask = ([each.name for each in fields(part)] if part else [] for part in (kind, Mask))
    if name == SEARCH:
        of_mask = []
    settings = (*own, *of_mask, BEAM)
    given: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        setting, equals, value = part.partition("=")
        if not equals or setting not in settings or setting in given:
            raise InputError(
                f"'{part}' is not a setting of {name}; write {name}:{settings[0]}=VALUE, with each "
                f"of {', '.join(settings)} once at most and commas between"
            )
        read, what = READ[setting]
        try:
            given[setting] = read(value)
        except ValueError:
            raise InputError(f"{setting}={value} is not {what}") from None
    if name == SEARCH and BEAM not in given:
        raise InputError(f"{SEARCH} needs a beam of its own, as in {SEARCH}:{BEAM}=1")
    if "languages" in given and given.get("language_weight") == 0:
        raise InputError("languages= has no effect with language_weight=0; leave one of them out")
    mask = {setting: value for setting, value in given.items() if setting in of_mask}
    return Method(
        kind(**{setting: value for setting, value in given.items() if setting in own}) if kind else None,
        Mask(**mask) if mask or name == MASK else None,
        given.get(BEAM),
    )


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
