"""The language of each passage of a document, among those of a model."""

from collections import Counter
from collections.abc import Sequence

from zsnmt.documents.passages import Passage
from zsnmt.errors import InputError
from zsnmt.scoring.language_identification import NaturalLanguageIdentifier
from zsnmt.scoring.lexicon_identifier import UNKNOWN

ENOUGH = 40  # letters of a passage whose language is told by itself


def identify_passages(passages: Sequence[Passage], languages: Sequence[str]) -> list[str]:
    """The language of each passage; that of most letters of the document for one with fewer than `ENOUGH`.

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
    counted: Counter[str] = Counter()
    for language, number in zip(found, letters):
        if language != UNKNOWN:
            counted[language] += number
    if not counted.total():
        raise InputError("there is no text whose language could be told; give it with --from")
    (most, _), *_ = counted.most_common(1)
    return [language if number >= ENOUGH else most for language, number in zip(found, letters)]


def describe(languages: Sequence[str]) -> str:
    """Which languages were found, and in how many passages: `de in 12 passages, fr in 1`."""
    counted = Counter(languages).most_common()
    return ", ".join(
        f"{language} in {number}" + " passages" * (not place)
        for place, (language, number) in enumerate(counted)
    )
