"""How a direction was decoded."""

import hashlib
import json
import re
from dataclasses import dataclass

from zsnmt.decoding.methods.settings import OWN_PIVOT_NAME, Method, setting_in_words
from zsnmt.errors import InputError

NAME = re.compile("[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Way:
    """How a direction was decoded: the name of a method, and the settings that tell it from others of the
    same name.

    Settings are words, numbers and lists of them. They are given as a mapping and kept in the order of their
    names, so that equal ways are equal and can be keys.
    """

    name: str
    settings: tuple[tuple[str, object], ...] = ()

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):  # it begins the names of files
            raise InputError(f"'{self.name}' cannot name a way: give small letters, digits and underscores")
        object.__setattr__(
            self,
            "settings",
            tuple(sorted((name, hashable(value)) for name, value in dict(self.settings).items())),
        )

    @classmethod
    def of_method(cls, method: Method) -> "Way":
        """The way that a method is."""
        return cls(method.name, tuple(method.settings.items()))

    @property
    def label(self) -> str:
        """The way in a few words: `pivot`, `mask (keep 0.9)`."""
        listed = ", ".join(f"{name} {setting_in_words(value)}" for name, value in self.settings)
        name = self.name.replace("_", " ")
        return f"{name} ({listed})" if listed else name

    @property
    def phrase(self) -> str:
        """What tables say after the name of a figure: nothing of direct translation, `through pivot`, `by
        mask (keep 0.9)`.
        """
        if self == DIRECT:
            return ""
        return f"{'through' if self.name in (PIVOT.name, OWN_PIVOT.name) else 'by'} {self.label}"

    @property
    def file_name(self) -> str:
        """The beginning of the names of its files: `direct`; with settings also their checksum."""
        if not self.settings:
            return self.name
        return f"{self.name}-{hashlib.sha256(json.dumps(self.settings).encode('utf-8')).hexdigest()[:8]}"

    def to_json(self) -> str | dict:
        """The name alone, or with its settings."""
        return {"name": self.name, "settings": dict(self.settings)} if self.settings else self.name

    @classmethod
    def from_json(cls, content: str | dict) -> "Way":
        """What `to_json` gave."""
        return cls(content) if isinstance(content, str) else cls(content["name"], content["settings"])


def hashable(value: object) -> object:
    return tuple(map(hashable, value)) if isinstance(value, (list, tuple)) else value


DIRECT, PIVOT = Way("direct"), Way("pivot")
OWN_PIVOT = Way(OWN_PIVOT_NAME)  # through the pivot by the run itself, where another run is the pivot's
INTO_PIVOT, INTO_OWN_PIVOT = Way("into_pivot"), Way("into_own_pivot")  # first halves, which no score is of
# What `decoding` says of translations through the pivot alone: the model and the engine of `pivot_by`.
OF_PIVOT = "pivot_model", "pivot_engine"
