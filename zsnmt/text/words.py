"""Whole words as units: the word-level setting of Li (2019), in the place of subwords."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

SYMBOL = re.compile(r"</?s>|<pad>|<unk>|__\w+__")  # of fairseq's dictionary, or a language tag


class Words:
    """Sentences into the words between their spaces, and back. What the dictionary lacks becomes unknown
    there.

    A word that spells a symbol of the dictionary falls into its characters, as in `Subwords`.
    """

    name = "words"
    needs_language = False

    def encode_lines(self, sentences: Iterable[str], language: str) -> Iterator[list[str]]:
        """The words of each sentence, in order."""
        return (
            [part for word in sentence.split() for part in (word if SYMBOL.fullmatch(word) else (word,))]
            for sentence in sentences
        )

    def decode(self, pieces: Iterable[str]) -> str:
        """The sentence of these words."""
        return " ".join(pieces)

    def starts_word(self, piece: str) -> bool:
        """True: each is one."""
        return True

    def save(self, folder: Path) -> None:
        """Nothing: words are not learned, and the dictionary lists them."""
