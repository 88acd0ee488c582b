"""Whole words as units: the word-level setting of Li (2019), in the place of subwords."""

from collections.abc import Iterable, Iterator


class Words:
    """Sentences into the words between their spaces, and back. What the dictionary lacks becomes unknown there."""

    vocabularies: dict[str, list[str]] = {}

    def encode_lines(self, sentences: Iterable[str], language: str) -> Iterator[list[str]]:
        """The words of each sentence, in order."""
        return (sentence.split() for sentence in sentences)

    def decode(self, pieces: Iterable[str]) -> str:
        """The sentence of these words."""
        return " ".join(pieces)
