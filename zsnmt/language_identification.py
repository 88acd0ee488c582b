"""In which of an experiment's languages a sentence is."""

from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, Sequence

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from zsnmt.corpora.lexicon_identifier import UNKNOWN, LexiconIdentifier
from zsnmt.errors import InputError


class Identifier(Protocol):
    """Anything that names the language of each sentence."""

    def identify(self, sentences: Sequence[str]) -> list[str]: ...


class NaturalLanguageIdentifier:
    """py3langid, restricted to the languages of the experiment; an empty sentence is `unknown`."""

    def __init__(self, languages: Sequence[str]) -> None:
        self.model = LanguageIdentifier.from_model_file(MODEL_FILE)
        try:
            self.model.set_languages(list(languages))
        except ValueError as error:
            raise InputError(
                f"py3langid cannot tell apart {', '.join(languages)} ({error}): use ISO 639-1 codes, or give "
                "lexicon.xx files beside the text and --identifier lexicon"
            ) from error

    def identify(self, sentences: Sequence[str]) -> list[str]:
        return [self.model.classify(sentence)[0] if sentence.strip() else UNKNOWN for sentence in sentences]


def load_identifier(kind: str, languages: Sequence[str], text: Path) -> tuple[Identifier, str]:
    """The identifier of a kind, `py3langid` or `lexicon` (`lexicon.xx` beside the text), and its signature."""
    if kind == "py3langid":
        name = f"py3langid {version('py3langid')}"
        return NaturalLanguageIdentifier(languages), f"{name}, restricted to {' '.join(languages)}"
    if kind == "lexicon":
        return LexiconIdentifier.from_folder(text, languages), f"lexicon of {' '.join(languages)}"
    raise InputError(f"unknown identifier '{kind}': it must be py3langid or lexicon")


def shares(identified: Sequence[str]) -> dict[str, float]:
    """The share (0–1) of each language among identified sentences, the largest first."""
    return {language: count / len(identified) for language, count in Counter(identified).most_common()}
