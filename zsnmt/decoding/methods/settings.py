"""The methods by their names and settings, as a person writes them: `ensemble:through=en,by=average`.

A method is an ensemble, a contrast, a sample, a mask, or a search with a beam of its own. The settings of a
mask, and the beam, may be given to all of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from zsnmt.decoding.methods.kinds import KINDS, MASK, VOTE, Kind
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.languages import Direction

OWN_PIVOT_NAME = "own_pivot"  # the way of a scored run through the pivot by itself, which is not a method
WHOLE, NUMBER, LANGUAGES = "a whole number", "a number", "language codes with + between"


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


SEARCH = Kind.name
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

    several: Kind | None = None
    mask: Mask | None = None
    beam: int | None = None

    def __post_init__(self) -> None:
        if self.beam is not None:
            self.search(Search())
        if self.renormalises:
            self.kind.check_renormalised()

    @property
    def kind(self) -> Kind:
        """What is searched together, and how."""
        return self.several or Kind()

    @property
    def name(self) -> str:
        """By which it is called."""
        return MASK if self.mask and self.several is None else self.kind.name

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
        given = {**asdict(self.kind), **(asdict(self.mask) if self.mask else {}), BEAM: self.beam}
        settings = {name: value for name, value in given.items() if value is not None and value is not False}
        for weight, *others in (("language_weight", "languages"), ("source_weight",)):
            if settings.get(weight) == 0:
                settings = {name: value for name, value in settings.items() if name not in (weight, *others)}
        return {name: value for name, value in settings.items() if (name, value) != ("by", VOTE)}

    @property
    def renormalises(self) -> bool:
        """Whether a search is among the pieces of one language alone."""
        return self.mask is not None and self.mask.renormalise

    def fault(self, direction: Direction) -> str | None:
        """Why a direction cannot be translated so; None where it can."""
        return self.kind.fault(direction)

    def fault_through(self, language: str) -> str | None:
        """Why a translation through a language is not made by the method, and what to do instead; None of a
        mask, which both of its translations have.
        """
        if self.several is None:
            return None
        fault = f"a translation by {self.name} is not made through {language}"
        if self.kind.through:
            return (
                f"{fault}: it reads the sentence beside its translation, and on that way the translation "
                f"alone would be left; leave out --via, and give --way {self.name}:through={language}"
            )
        return (
            f"{fault}: it is one translation, and on that way there are two; leave out one of the two, or "
            f"translate into {language} first, and what comes of it by {self.name}"
        )

    def of(self, known: Sequence[str]) -> "Method":
        """The method for a model of these languages, the pivot first; `InputError` for others."""
        return replace(self, several=self.several and self.several.of(known))


def spell_method(method: Method) -> str:
    """A method as `parse_method` reads it, without settings that its kind has anyway."""
    usual = asdict(type(method.kind)()) | dict.fromkeys(("penalty", "prefer", BEAM)) | {"renormalise": False}
    all_settings = {**asdict(method.kind), **(asdict(method.mask) if method.mask else {}), BEAM: method.beam}
    given = {name: value for name, value in all_settings.items() if value != usual.get(name)}
    settings = ",".join(f"{name}={setting_in_words(value)}" for name, value in given.items())
    return f"{method.name}:{settings}" if settings else method.name


def setting_in_words(value: object) -> str:
    """A setting as a person writes it: `en+de`, `yes`."""
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


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
    own, of_mask = ([each.name for each in fields(part)] for part in (kind, Mask))
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
        None if kind is Kind else kind(**{name: value for name, value in given.items() if name in own}),
        Mask(**mask) if mask or name == MASK else None,
        given.get(BEAM),
    )
