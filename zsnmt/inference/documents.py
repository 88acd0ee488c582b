"""Text whose languages are not said line by line: lines and documents, translated by a `Translator`."""

from collections.abc import Sequence
from itertools import compress

from zsnmt.documents.languages import describe, identify_passages
from zsnmt.documents.passages import Document, Passage, Run
from zsnmt.documents.translation import Translate, refuse_other_target, translate_passages
from zsnmt.inference.confidence import scored_lines
from zsnmt.inference.translation import Legs, Translation
from zsnmt.inference.translator import Translator
from zsnmt.languages import AUTO
from zsnmt.processes import Progress, unheard


def translate_document(
    translator: Translator, document: Document, legs: Legs, *, finished: Progress = unheard
) -> tuple[bytes, str]:
    """The document in the target language, and which languages it was found in, in words.

    `finished` is told the number of sentences that are done. Raises `InputError` as
    `Translator.translate` does, where no language can be told, and for a document that has translations into
    another language.
    """
    refuse_other_target(document, legs.target)
    languages = sources_of(translator, document.passages, legs)
    translations = translate_passages(
        document.passages, languages, step(translator, legs, finished), target=legs.target
    )
    return document.content(translations, legs.target), describe(languages)


def translate_lines(
    translator: Translator,
    lines: Sequence[str],
    legs: Legs,
    *,
    agreement: bool = False,
    finished: Progress = unheard,
) -> tuple[list[Translation], str]:
    """The same of lines, each a sentence: one translation for each, with its `agreement` where there is
    another way.
    """
    languages = sources_of(translator, [Passage((Run(line),)) for line in lines], legs)
    translations = [*map(Translation, lines)]
    for language in dict.fromkeys(languages):
        if language != legs.target:
            chosen = [of_line == language for of_line in languages]
            made = scored_lines(
                translator,
                [*compress(lines, chosen)],
                legs_of_source(legs, language),
                agreement=agreement,
                first_line=None,  # those of a language stand anywhere
                finished=finished,
            )
            for place, translation in zip(compress(range(len(lines)), chosen), made):
                translations[place] = translation
    return translations, describe(languages)


def sources_of(translator: Translator, passages: Sequence[Passage], legs: Legs) -> list[str]:
    """The language of each passage: the one that is given, the one that is found, or any where the model does
    not see it.
    """
    if legs.source == AUTO:
        return identify_passages(passages, translator.languages)
    return [translator.legs(legs.source, legs.target, legs.via)[0].source] * len(passages)


def step(translator: Translator, legs: Legs, finished: Progress) -> Translate:
    """What translates lines of a language."""

    def translate(lines: Sequence[str], source: str) -> list[str]:
        way = legs_of_source(legs, source)
        return translator.translate(
            lines, way.target, source, via=way.via, first_line=None, finished=finished
        )

    return translate


def legs_of_source(legs: Legs, source: str) -> Legs:
    """The way of lines of a language; those in the language to go through need not."""
    return Legs(source, legs.target, None if legs.via == source else legs.via)
