"""In which of an experiment's languages a sentence is."""

import copy
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Protocol

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from zsnmt.errors import InputError
from zsnmt.scoring.lexicon_identifier import UNKNOWN, LexiconIdentifier, lacks_lexicons
from zsnmt.text.iso_639 import two_letters

# Spaces, punctuation, European digits, accents that join any letter.
NO_SCRIPT = ("Common", "Inherited", "Unknown")
UNSPACED = ("Han", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")  # scripts without spaces between words
WRITTEN_WITH = {"Hiragana": "Han", "Katakana": "Han", "Bopomofo": "Han"}  # Japanese and Chinese are mixtures
KNOWN_AS = {"nb": "no"}  # to py3langid, which knows Bokmål as Norwegian, and Nynorsk by itself
LEAST_PROBABLE = 0.01  # of a sentence's own language


class Identifier(Protocol):
    """Anything that names the language of each sentence; results can be kept by it."""

    def __hash__(self) -> int: ...

    def identify(self, sentences: Sequence[str]) -> list[str]: ...


class NaturalLanguageIdentifier:
    """py3langid, restricted to some languages; an empty sentence is `unknown`.

    `InputError` for a language that py3langid does not know, and for two that are one to it.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        try:
            self.model, self.names = py3langid(languages)
        except ValueError as error:
            raise InputError(
                f"py3langid cannot tell apart {', '.join(languages)} ({error}): use ISO 639-1 codes, or give "
                "--identifier lexicon, which knows each language by the words of its training text"
            ) from error

    def identify(self, sentences: Sequence[str]) -> list[str]:
        """The language of each sentence, or `unknown`."""
        return [
            self.names[self.model.classify(sentence)[0]] if sentence.strip() else UNKNOWN
            for sentence in sentences
        ]


class ScriptIdentifier:
    """Names the language by the script of most of a sentence, and by py3langid among languages that share a
    script.

    A sentence in a script of none of the languages is `unknown`, and so is one without any letter, such as
    '2018.' or '...': it is in no language, and output that is nothing else is not a translation. Where such a
    sentence is right its reference is one too, so the identifier's error on the references shows how much of
    a rate is due to these.
    """

    def __init__(self, groups: Mapping[str, Sequence[str]]) -> None:
        """`groups` maps a script to its languages; `InputError` if py3langid does not know some that share
        one.
        """
        self.groups = groups
        self.within = {
            script: NaturalLanguageIdentifier(languages)
            for script, languages in groups.items()
            if len(languages) > 1
        }

    def identify(self, sentences: Sequence[str]) -> list[str]:
        """The language of each sentence, or `unknown`."""
        return [self._identify(sentence) for sentence in sentences]

    def _identify(self, sentence: str) -> str:
        script = main_script(Counter(sentence))
        if script is None or script not in self.groups:
            return UNKNOWN
        if script in self.within:
            return self.within[script].identify([sentence])[0]
        return self.groups[script][0]


class ForeignTest:
    """Tells whether a sentence is surely not in a language: most of it is in another script than the text of
    the language, or py3langid, among all languages it knows, gives the language less than a hundredth.

    Of sentences of Tatoeba one in a thousand is called foreign. Where py3langid does not know the language,
    the script alone tells. A sentence without any letter may be in any language.
    """

    def __init__(self, language: str, script: str) -> None:
        self.language, self.script = language, script
        self.model = all_languages(probabilities=True)
        self.code = code_of(language)
        self.known = self.code in self.model.labels

    def __call__(self, sentence: str) -> bool:
        script = main_script(Counter(sentence))
        if script != self.script:
            return script is not None
        if not self.known or self.model.classify(sentence)[0] == self.code:
            return False
        return dict(self.model.rank(sentence))[self.code] < LEAST_PROBABLE


def load_identifier(
    kind: str, languages: Sequence[str], text: Path, scripts: Mapping[str, str] | None = None
) -> tuple[Identifier, str]:
    """The identifier of a kind, `py3langid` or `lexicon` (`lexicon.xx` beside the text, or the words of its
    training text), and its signature; `InputError` for another kind.

    `scripts` is the script of each language (see `scripts_of`); where they differ, py3langid only tells apart
    languages that share one. A lexicon needs none.
    """
    if kind == "py3langid":
        signature = f"py3langid {version('py3langid')}, restricted to {' '.join(languages)}"
        groups = languages_by_script(languages, scripts or {})
        if len(groups) < 2:
            return NaturalLanguageIdentifier(languages), signature
        listed = ", ".join(f"{script} ({' '.join(group)})" for script, group in groups.items())
        return ScriptIdentifier(groups), f"{signature}, by script: {listed}"
    if kind == "lexicon":
        origin = ", the words of the training text" if lacks_lexicons(text, languages) else ""
        return LexiconIdentifier.from_folder(text, languages), f"lexicon of {' '.join(languages)}{origin}"
    raise InputError(f"unknown identifier '{kind}': it must be py3langid or lexicon")


def scripts_of(references: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The main script of each language's sentences; a language whose sentences have no letters gets none."""
    found = {
        language: main_script(Counter(chain.from_iterable(lines))) for language, lines in references.items()
    }
    return {language: script for language, script in found.items() if script}


def languages_by_script(languages: Sequence[str], scripts: Mapping[str, str]) -> dict[str, list[str]]:
    """The languages that each script may be of, by name of the script; a language without a script may be
    in any.
    """
    known = sorted({scripts[language] for language in languages if language in scripts})
    return {
        name: [language for language in languages if scripts.get(language, name) == name] for name in known
    }


def main_script(characters: Mapping[str, int]) -> str | None:
    """The script of most characters that have one (letters, vowel signs, own digits), or None; the first
    of equals. `characters` are those of a text with their counts.
    """
    counts: Counter[str] = Counter()
    for character, count in characters.items():
        counts[script_of_character(character)] += count
    for name in NO_SCRIPT:
        del counts[name]
    return max(counts, key=counts.__getitem__, default=None)


@functools.cache
def script_of_character(character: str) -> str:
    """The Unicode script of a character by its name, like `Devanagari`; `Han` also for kana and bopomofo."""
    from fontTools import unicodedata  # large, and for evaluation alone

    name = unicodedata.script_name(unicodedata.script(character))
    return WRITTEN_WITH.get(name, name)


def shares(identified: Sequence[str]) -> dict[str, float]:
    """The share (0–1) of each language among identified sentences, the largest first."""
    return {language: count / len(identified) for language, count in Counter(identified).most_common()}


def code_of(language: str) -> str:
    """The code by which py3langid knows a language, if it knows it."""
    code = two_letters(language)
    return KNOWN_AS.get(code, code)


def py3langid(
    languages: Sequence[str], probabilities: bool = False
) -> tuple[LanguageIdentifier, dict[str, str]]:
    """py3langid's model restricted to some languages, for their scores or their probabilities, and the
    language that each of its codes stands for; `ValueError` for one that it does not know, and for two of one
    code.
    """
    names = {code_of(language): language for language in languages}
    if len(names) < len(languages):
        raise ValueError("two of them are one language to it")
    model = copy.copy(all_languages(probabilities))  # a restriction leaves the tables that copies share
    model.set_languages(list(names))
    return model, names


@functools.cache
def all_languages(probabilities: bool = False) -> LanguageIdentifier:
    """py3langid's model, which takes a while to load."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=probabilities)
