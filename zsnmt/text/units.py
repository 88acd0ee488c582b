"""What a text pipeline cuts sentences into: subwords or words."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol


class Units(Protocol):
    """Sentences into units and back.

    `name`: what `pipeline.json` calls them. `needs_language`: whether the units of a sentence depend on its
    language.
    """

    name: str

    @property
    def needs_language(self) -> bool: ...

    def encode_lines(self, sentences: Iterable[str], language: str) -> Iterator[list[str]]:
        """The units of each sentence, in order."""

    def decode(self, pieces: Iterable[str]) -> str:
        """The sentence of which these are the units."""

    def starts_word(self, piece: str) -> bool:
        """Whether a word begins with this unit."""

    def save(self, folder: Path) -> None:
        """Write into a folder what it takes to load the units again."""
