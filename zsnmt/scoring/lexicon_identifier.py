"""Which of several languages a sentence is in, by looking its words up in their lexicons."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.text.lines import iterate_lines, read_lines
from zsnmt.text.unspaced import is_unspaced

UNKNOWN = "unknown"
PUNCTUATION = ".,;:!?\"'()[]"
FOREIGN = 10  # times as frequent as in a language's own text a word is in that of the language that it is of


class LexiconIdentifier:
    """Names the language whose lexicon has most of a sentence's words.

    A tie goes to the language named first; a sentence without any known word is `unknown`.
    """

    def __init__(self, lexicons: Mapping[str, Collection[str]]) -> None:
        """`lexicons` maps a language to the words it can write, lowercased."""
        self.lexicons = {language: frozenset(words) for language, words in lexicons.items()}

    @classmethod
    def from_folder(cls, folder: str | Path, languages: Sequence[str]) -> "LexiconIdentifier":
        """Reads `lexicon.{lang}`, one lowercased word a line, for each language; where not all are there, the
        words of the training text. Raises InputError where that is not there either.
        """
        if lacks_lexicons(folder, languages):
            return cls(words_of_text(Path(folder), languages))
        return cls({language: read_lines(Path(folder) / f"lexicon.{language}") for language in languages})

    def identify(self, sentences: Sequence[str]) -> list[str]:
        """The language of each sentence, raw text with or without tokenisation, or `unknown`."""
        return [self._identify(sentence) for sentence in sentences]

    def _identify(self, sentence: str) -> str:
        words = words_of(sentence)
        counts = {
            language: sum(word in lexicon for word in words) for language, lexicon in self.lexicons.items()
        }
        best = max(counts, key=counts.__getitem__)  # the first of equals
        return best if counts[best] else UNKNOWN


def words_of(sentence: str) -> list[str]:
    """The words of a sentence as lexicons have them; in scripts without spaces each character is one."""
    spaced = "".join(f" {each} " if is_unspaced(each) else each for each in sentence.lower())
    return [token.strip(PUNCTUATION) for token in spaced.split()]


def lacks_lexicons(folder: str | Path, languages: Iterable[str]) -> bool:
    """Whether a folder has no lexicon of some of these languages."""
    return not all((Path(folder) / f"lexicon.{language}").is_file() for language in languages)


def words_of_text(folder: Path, languages: Sequence[str]) -> dict[str, list[str]]:
    """The words of the training text of each language, without those that are far more frequent in that of
    another one, such as its names.

    Raises InputError for a language without training text in the folder.
    """
    counts: dict[str, Counter[str]] = {language: Counter() for language in languages}
    for file in sorted(folder.glob("train.*")):
        if (language := file.suffix[1:]) in counts:
            for line in iterate_lines(file, allow_empty_lines=True):
                counts[language].update(filter(None, words_of(line)))
    if lacking := [language for language, words in counts.items() if not words]:
        raise InputError(
            f"{folder} has neither lexicon.{lacking[0]} nor training text of {lacking[0]}, by which the "
            "identifier lexicon knows it; put one there, or give --identifier py3langid"
        )
    totals = {language: words.total() for language, words in counts.items()}

    def share(word: str, language: str) -> float:
        return counts[language][word] / totals[language]

    return {
        language: [
            word
            for word in words
            if max(share(word, other) for other in languages) <= FOREIGN * share(word, language)
        ]
        for language, words in counts.items()
    }
