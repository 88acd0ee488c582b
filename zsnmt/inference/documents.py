"""Text whose languages are not said line by line: lines and documents, translated by a `Translator`."""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import NamedTuple

from zsnmt.documents.languages import describe, identify_passages
from zsnmt.documents.passages import Document, Passage, Run
from zsnmt.documents.translation import Translate, translate_passages
from zsnmt.inference.translator import Translator
from zsnmt.languages import AUTO

Finished = Callable[[float], object]


class Legs(NamedTuple):
    """From what language (`AUTO`: identified), to which, and through which one if any."""

    source: str | None
    target: str
    via: str | None = None


def translate_document(
    translator: Translator, document: Document, legs: Legs, *, finished: Finished = lambda number: None
) -> tuple[bytes, str]:
    """The document in the target language, and which languages it was found in, in words.

    `finished` is told the number of sentences that are done. Raises `InputError` as
    `Translator.translate` does, and where no language can be told.
    """
    languages = sources_of(translator, document.passages, legs)
    translations = translate_passages(
        document.passages, languages, step(translator, legs, finished), target=legs.target
    )
    return document.content(translations, legs.target), describe(languages)


def translate_lines(
    translator: Translator, lines: Sequence[str], legs: Legs, *, finished: Finished = lambda number: None
) -> tuple[list[str], str]:
    """The same of lines, each a sentence: one line for each."""
    languages = sources_of(translator, [Passage((Run(line),)) for line in lines], legs)
    translations, translate = list(lines), step(translator, legs, finished)
    for language in dict.fromkeys(languages):
        if language != legs.target:
            chosen = [of_line == language for of_line in languages]
            places = compress(range(len(lines)), chosen)
            for place, translation in zip(places, translate([*compress(lines, chosen)], language)):
                translations[place] = translation
    return translations, describe(languages)


def sources_of(translator: Translator, passages: Sequence[Passage], legs: Legs) -> list[str]:
    """The language of each passage: the one that is given, the one that is found, or any where the model does
    not see it.
    """
    if legs.source == AUTO:
        return identify_passages(passages, translator.languages)
    return [translator.legs(legs.source, legs.target, legs.via)[0].source] * len(passages)


def step(translator: Translator, legs: Legs, finished: Finished) -> Translate:
    """What translates lines of a language; those in the language to go through need not."""

    def translate(lines: Sequence[str], source: str) -> list[str]:
        via = None if legs.via == source else legs.via
        return translator.translate(lines, legs.target, source, via=via, finished=finished)

    return translate
