"""The language of each passage of a document, among those of a model."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

from zsnmt.documents.passages import Passage
from zsnmt.errors import InputError, counted
from zsnmt.scoring.language_identification import NaturalLanguageIdentifier
from zsnmt.scoring.lexicon_identifier import UNKNOWN
from zsnmt.text.unspaced import EAST_ASIAN

ENOUGH = 40  # letters of a passage whose language is told by itself


def identify_passages(passages: Sequence[Passage], languages: Sequence[str]) -> list[str]:
    """The language of each passage; for one with fewer than `ENOUGH` letters that of most letters that the
    document has in its script, or of all for one without a letter.

    `InputError` for a document without a letter, and for languages that py3langid does not know.
    """
    if not passages:
        return []
    try:
        identifier = NaturalLanguageIdentifier(languages)
    except InputError:  # whose remedy is for scoring
        raise InputError(
            f"py3langid cannot tell apart {', '.join(languages)}; give the language of the text with --from"
        ) from None
    found = identifier.identify([" ".join(passage.text.split()) for passage in passages])
    letters = [sum(map(str.isalpha, passage.text)) for passage in passages]
    scripts = [main_letters(passage.text) for passage in passages]
    counted: dict[str | None, Counter[str]] = {script: Counter() for script in (None, *scripts)}
    for language, number, script in zip(found, letters, scripts):
        if number and language != UNKNOWN:
            counted[None][language] += number
            counted[script][language] += number
    if not counted[None]:
        raise InputError("there is no text whose language could be told; give it with --from")
    most = {script: max(of_script, key=of_script.__getitem__) for script, of_script in counted.items()}
    return [
        language if number >= ENOUGH else most[script]
        for language, number, script in zip(found, letters, scripts)
    ]


def main_letters(text: str) -> str | None:
    """The script of most letters of a text, as `LATIN`, and `CJK` of those of Chinese and Japanese; None
    without letters.
    """
    counted: Counter[str] = Counter()
    for character, number in Counter(text).items():
        if character.isalpha():
            counted[kind_of_letter(character)] += number
    return max(counted, key=counted.__getitem__, default=None)


@cache
def kind_of_letter(letter: str) -> str:
    """The script of a letter, as its name begins."""
    name = unicodedata.name(letter, "")
    return EAST_ASIAN[0] if name.startswith(EAST_ASIAN) else name.partition(" ")[0]


def describe(languages: Sequence[str]) -> str:
    """Which languages were found, and in how many passages: `de in 12 passages, fr in 1`."""
    return ", ".join(
        f"{language} in {number if place else counted(number, 'passage')}"
        for place, (language, number) in enumerate(Counter(languages).most_common())
    )
