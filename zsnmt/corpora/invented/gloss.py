"""What the words of invented languages mean, in English: for people who look at translations."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from zsnmt.corpora.invented.corpus import SyntheticCorpus
from zsnmt.corpora.invented.grammar import Language, mark_word, paradigm

ENGLISH = {  # of the first concepts of each class; a further one has its own name, such as noun31
    "noun": "dog house child river tree bird friend stone boat king garden horse letter mountain baker door "
    "island sister window fox bridge teacher lamp forest cat road song queen bread cloud".split(),
    "transitive": "sees finds loves carries hears builds follows paints washes hides".split(),
    "intransitive": "sleeps sings waits laughs falls".split(),
    "adjective": "big old red quiet young warm small white clever slow".split(),
    "adverb": "today often slowly gladly here".split(),
    "adposition": "in under behind near with above".split(),
    "numeral": "two three four five six".split(),
    "conjunction": "and but because when".split(),
}
MARKERS = {
    "plural": "many",
    "definite": "the",
    "patient": "(object)",
    "past": "before",
    "future": "later",
    "not": "not",
}
UNKNOWN = "–"


def english(concept: str) -> str:
    """The English word for a concept of the inventory or a marker."""
    if concept in MARKERS:
        return MARKERS[concept]
    word_class, number = re.fullmatch(r"([a-z]+)(\d+)", concept).groups()  # type: ignore[union-attr]
    return next(itertools.islice(ENGLISH[word_class], int(number) - 1, None), concept)


class Dictionary:
    """The words of the languages of a corpus and what they mean."""

    def __init__(self, corpus: SyntheticCorpus) -> None:
        self.corpus = corpus

    @cached_property
    def meanings(self) -> dict[str, dict[str, str]]:
        """By language: each word form and its meaning; of an inflected word the meanings of its parts, joined
        by `+`.
        """
        return {language.name: dict(self.entries(language)) for language in self.corpus.languages}

    def entries(self, language: Language) -> Iterator[tuple[str, str]]:
        stems: Mapping[str, str] = self.corpus.stems[language.name]
        yield stems["not"], MARKERS["not"]
        for word_class, concepts in self.corpus.inventory.items():
            for concept, marks in itertools.product(concepts, paradigm(language, word_class)):
                for word in mark_word(concept, marks, stems).words():
                    yield word.form, "+".join(map(english, (word.concept, *word.affixes)))

    def interlinear(self, sentence: str, language: str) -> list[tuple[str, str]]:
        """The words of a sentence, each with its meaning.

        A word of another language than the one asked for has that language's name after it, one of no
        language has `UNKNOWN`, and a mark has nothing.
        """
        return [(word, self.meaning(word, language)) for word in re.findall(r"\w+|[^\w\s]+", sentence)]

    def meaning(self, word: str, language: str) -> str:
        if not word.isalnum():
            return ""
        if (known := self.meanings[language].get(word.lower())) is not None:
            return known
        elsewhere = (
            f"{meanings[word.lower()]} [{other}]"
            for other, meanings in self.meanings.items()
            if word.lower() in meanings
        )
        return next(elsewhere, UNKNOWN)


def two_lines(words: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Words above their meanings, in columns."""
    widths = [max(map(len, pair)) for pair in words]
    upper, lower = (
        "  ".join(pair[side].ljust(width) for pair, width in zip(words, widths)).rstrip() for side in (0, 1)
    )
    return upper, lower
