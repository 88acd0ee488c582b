"""Which of several languages a sentence is in, by looking its words up in their lexicons."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from zsnmt.text.lines import read_lines

UNKNOWN = "unknown"
PUNCTUATION = ".,;:!?\"'()[]"


class LexiconIdentifier:
    """Names the language whose lexicon has most of a sentence's words.

    A tie goes to the language named first; a sentence without any known word is `unknown`.
    """

    def __init__(self, lexicons: Mapping[str, Collection[str]]) -> None:
        """`lexicons` maps a language to the words it can write, lowercased."""
        self.lexicons = {language: frozenset(words) for language, words in lexicons.items()}

    @classmethod
    def from_folder(cls, folder: str | Path, languages: Sequence[str]) -> "LexiconIdentifier":
        """Reads `lexicon.{lang}`, one lowercased word a line, for each language; raises InputError."""
        return cls({language: read_lines(Path(folder) / f"lexicon.{language}") for language in languages})

    def identify(self, sentences: Sequence[str]) -> list[str]:
        """The language of each sentence, raw text with or without tokenisation, or `unknown`."""
        return [self._identify(sentence) for sentence in sentences]

    def _identify(self, sentence: str) -> str:
        words = [token.strip(PUNCTUATION) for token in sentence.lower().split()]
        counts = {
            language: sum(word in lexicon for word in words) for language, lexicon in self.lexicons.items()
        }
        best = max(counts, key=counts.__getitem__)  # the first of equals
        return best if counts[best] else UNKNOWN
