"""Passages translated: sentence by sentence, space and looks kept, what has no words left as it is."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, zip_longest

from zsnmt.documents.passages import (
    Document,
    Part,
    Passage,
    Sentence,
    is_of_language,
    of_word,
    sentences_of,
    share_out,
)
from zsnmt.errors import InputError
from zsnmt.text.unspaced import closes_up

LOG = logging.getLogger(__name__)
SPACES = " \t\n\r\u00a0"
# A soft hyphen, within a word where a line may end, and U+FEFF, which joined files leave: neither is seen.
UNSEEN = str.maketrans("", "", "\u00ad\ufeff")
STOPS = tuple(".。।۔።។။։")  # that end a sentence, in Urdu, Amharic, Khmer and others, too

Translate = Callable[[Sequence[str], str], Sequence[str]]  # lines of one language, which is given


def refuse_other_target(document: Document, target: str) -> None:
    """`InputError` for a document that has translations into another language than the target."""
    if (there := document.translated_into) and not is_of_language(there, target):
        raise InputError(
            f"the document has translations into '{there}', beside which those into '{target}' would stand; "
            "give it without translations, or mend what it says of its language"
        )


def translate_passages(
    passages: Sequence[Passage], languages: Sequence[str], translate: Translate, *, target: str
) -> list[list[str]]:
    """For each passage the new texts of its runs; `languages` has the language of each.

    A sentence that is in the target language already stays as it is, and so does one for which the model has
    nothing, which is said. All sentences of a language are translated at once, each once.
    """
    cut = [sentences_of(passage, language) for passage, language in zip(passages, languages, strict=True)]
    lines: dict[str, dict[str, str]] = {}  # by language, what becomes of each line
    for sentences, language in zip(cut, languages):
        for line in lines_of(sentences) if language != target else ():
            lines.setdefault(language, {})[line] = line
    for language, made in lines.items():
        found = dict(zip(made, translate([*made], language), strict=True))
        if nothing := [line for line, text in found.items() if not without_new_stop(line, text).strip()]:
            LOG.warning("the model has nothing for %d pieces, which stay: %s", len(nothing), nothing[0])
        made.update((line, new_line(line, translation)) for line, translation in found.items())
    return [
        texts_of(passage, sentences, lines.get(language, {}))
        for passage, sentences, language in zip(passages, cut, languages)
    ]


def lines_of(sentences: Iterable[Sentence]) -> Iterable[str]:
    """What a model is asked to translate of some sentences: each as a whole, then its stretches of one look,
    by which they are found again.
    """
    for sentence in sentences:
        if sentence.has_words:
            yield one_line(sentence.text)
            if len(sentence.parts) > 1:
                yield from filter(None, map(str.strip, stretches(sentence)))


def stretches(sentence: Sentence) -> list[str]:
    """The words of each part; nothing of those without words, and of fixed ones."""
    return [
        one_line(part.text[slice(*bounds_of_words(part.text))])
        if not part.fixed and any(map(str.isalpha, part.text))
        else ""
        for part in sentence.parts
    ]


def one_line(text: str) -> str:
    """The text with each stretch of space as one space, and without `UNSEEN`, as a model reads it."""
    return " ".join(text.translate(UNSEEN).split())


def texts_of(passage: Passage, sentences: Sequence[Sentence], made: Mapping[str, str]) -> list[str]:
    """The new texts of a passage's runs."""
    texts = [""] * len(passage.runs)
    for sentence, following in zip_longest(sentences, sentences[1:]):
        translated = [
            part._replace(text=text) for part, text in zip(sentence.parts, new_parts(sentence, made))
        ]
        for part in (*sentence.before, *translated, *gap_after(sentence, translated, following)):
            texts[part.run] += part.text
    return texts


def gap_after(sentence: Sentence, translated: Sequence[Part], following: Sentence | None) -> Sequence[Part]:
    """What stands between the translation of a sentence and the following one: what is there in the source,
    but for the space that one of the two languages has between sentences, and the other has not.
    """
    closed, closes = closes_up(sentence.text), closes_up("".join(part.text for part in translated))
    if following is None or following.before or closed == closes:
        return sentence.after
    if closes and [part.text for part in sentence.after] == [" "]:
        return ()
    if closed and not sentence.after and not translated[-1].fixed:
        return [translated[-1]._replace(text=" ")]
    return sentence.after


def new_parts(sentence: Sentence, made: Mapping[str, str]) -> list[str]:
    """The new text of each part of a sentence."""
    if not sentence.has_words or one_line(sentence.text) not in made:
        return [part.text for part in sentence.parts]
    translation = made[one_line(sentence.text)]
    if len(sentence.parts) == 1:
        return [translation]
    pairs = [*zip((part.text for part in sentence.parts), stretches(sentence), strict=True)]
    shared = share_out(translation, sentence, [made.get(line, text) for text, line in pairs])
    if shared is not None:
        return with_both_spaces(shared, sentence.parts)
    return [in_place(text, made[line]) if line in made else text for text, line in pairs]


def with_both_spaces(texts: Sequence[str], parts: Sequence[Part]) -> list[str]:
    """The new texts of parts, where two that had a space each between them have both again, as around a
    formula or the place of a value: the model reads and writes one for both.
    """
    spaced = [*texts]
    for place, (before, after) in enumerate(pairwise(parts)):
        had_both = before.text[-1].isspace() and after.text[0].isspace()
        if had_both and texts[place + 1][:1].isspace() and texts[place][-1:].strip():
            spaced[place] += " "
    return spaced


def in_place(text: str, translation: str) -> str:
    """A translation between the space and the marks that stand around the words of a text."""
    before, after = bounds_of_words(text)
    return text[:before] + translation.strip() + text[after:]


def bounds_of_words(text: str) -> tuple[int, int]:
    """Where the words of a part begin and end: without the space and the marks that join it to others."""
    before = len(text) - len(text.lstrip(f"{SPACES},;:.!?)]}}»”"))
    return before, max(before, len(text.rstrip(f"{SPACES},;:([{{«„“")))


def new_line(source: str, translation: str) -> str:
    """What stands in the place of a line: its translation, or the line itself where the model has nothing."""
    made = without_new_stop(source, translation)
    return made if made.strip() else source


def without_new_stop(source: str, translation: str) -> str:
    """A translation without the full stop that a model puts behind what is no sentence, such as a title."""
    ended = translation.endswith(STOPS) and not translation.endswith("..")
    return translation[:-1] if ended and of_word(source[-1]) else translation
