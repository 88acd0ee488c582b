"""In which of a model's languages a text is, and how sure that is."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from zsnmt.documents.languages import ENOUGH, main_letters
from zsnmt.errors import InputError
from zsnmt.scoring.language_identification import py3langid
from zsnmt.scoring.lexicon_identifier import LexiconIdentifier, words_of


class Detector(Protocol):
    """Ranks languages for a text."""

    def rank(self, text: str) -> list[tuple[str, float]]:
        """Languages and how sure each is (0–1), the surest first; none for a text that says nothing."""


class NaturalDetector:
    """py3langid, restricted to some languages; `ValueError` for one that it does not know, and for two that
    are one to it.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self.model, self.names = py3langid(languages, probabilities=True)

    def rank(self, text: str) -> list[tuple[str, float]]:
        """Languages and their probabilities."""
        ranked = self.model.rank(text) if text.strip() else []
        return [(self.names[code], probability) for code, probability in ranked]


class LexiconDetector:
    """Counts the words of a text that are in the lexicon of each language."""

    def __init__(self, identifier: LexiconIdentifier) -> None:
        self.lexicons = identifier.lexicons

    def rank(self, text: str) -> list[tuple[str, float]]:
        """Languages and the shares of words that they know, without those that know none."""
        words = [*filter(None, words_of(text))]
        shares = {
            language: sum(word in lexicon for word in words) / len(words)
            for language, lexicon in self.lexicons.items()
            if words
        }
        return sorted(((each, share) for each, share in shares.items() if share), key=lambda pair: -pair[1])


def detector_of(languages: Sequence[str], text: Path) -> Detector | None:
    """What tells the languages of a model apart: py3langid if it knows all of them, else the lexicons beside
    the model's text, if they are there.
    """
    try:
        return NaturalDetector(languages)
    except ValueError:
        try:
            return LexiconDetector(LexiconIdentifier.from_folder(text, languages))
        except (InputError, OSError):
            return None


def detect_all(detector: Detector, texts: Sequence[str]) -> list[tuple[str, float] | None]:
    """The language of each text of a request and how sure it is (0–1), None where nothing tells; one of
    fewer than `ENOUGH` letters is taken to be of the language of all of its script together, or of all texts
    where that says nothing.
    """
    scripts = [main_letters(text) for text in texts]

    @cache
    def together(script: str | None) -> tuple[str, float] | None:
        """The language of all texts of a script, or of all at once."""
        joined = "\n".join(text for text, of in zip(texts, scripts) if script in (None, of))
        return most_likely(detector, joined)

    return [
        most_likely(detector, text)
        if len(texts) == 1 or sum(map(str.isalpha, text)) >= ENOUGH
        else together(script) or together(None)
        for text, script in zip(texts, scripts)
    ]


def most_likely(detector: Detector, text: str) -> tuple[str, float] | None:
    """The first of the languages that a detector ranks."""
    return next(iter(detector.rank(text)), None)
