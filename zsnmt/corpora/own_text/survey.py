"""What a person's text has: how much of it, in which languages and scripts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zsnmt.corpora.cleaning import LONGEST
from zsnmt.corpora.own_text.languages import all_sentence_pairs, pairs_of
from zsnmt.corpora.own_text.table import Table
from zsnmt.corpora.parallel_text import SPLITS
from zsnmt.errors import InputError
from zsnmt.processes import progress
from zsnmt.scoring.language_identification import main_script

FEWEST = 100  # sentence pairs that a language needs: with fewer there is nothing to learn or to hold out
UNSPACED = ("Han", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")  # scripts without spaces between words
CHARACTERS_OF_WORD = 2  # in these, about
COUNTED = 100_000  # different words at most: more make no difference to a vocabulary


@dataclass(frozen=True)
class Survey:
    """The languages, the pivot first; of the training text the sentence pairs of each pair, the words of both
    sides, the different words and characters, and the script of each language; and which splits some pair
    lacks.
    """

    languages: tuple[str, ...]
    pairs: Mapping[str, int]
    words: int
    different_words: int
    characters: int
    scripts: Mapping[str, str]
    lacking: tuple[str, ...] = ()

    @property
    def unspaced(self) -> list[str]:
        """The languages whose script has no spaces between words."""
        return [language for language in self.languages if self.scripts.get(language) in UNSPACED]


def survey(tables: Sequence[Table], languages: Sequence[str]) -> Survey:
    """Read all tables once, and count; `InputError` for a fault in the text, and for a language with too
    little of it.
    """
    pairs: Counter[str] = Counter()
    words: Counter[str] = Counter()
    characters: dict[str, Counter[str]] = {language: Counter() for language in languages}
    different = set[str]()
    for table in tables:
        counted = dict.fromkeys(pairs_of(table, languages), 0)
        name = "-".join(table.languages)
        for pair, row in progress(all_sentence_pairs(table, [*counted]), f"reading {name}", unit=" pairs"):
            if table.split != "train":
                continue  # read all the same, so that a fault is told of before anything is made
            counted[pair] += 1
            if max(map(len, row)) > LONGEST:
                continue  # no sentence, which cleaning leaves out; one alone could be most of a small text
            for language, sentence in zip(pair, row):
                spaced = sentence.split()
                words[language] += len(spaced)
                characters[language].update(sentence)
                if len(different) < COUNTED:
                    different.update(spaced)
        pairs.update({"-".join(pair): number for pair, number in counted.items() if number})
    check_enough(pairs, languages)
    scripts = {language: script for language in languages if (script := main_script(characters[language]))}
    for language, script in scripts.items():
        if script in UNSPACED:
            words[language] = characters[language].total() // CHARACTERS_OF_WORD
    return Survey(
        languages=tuple(languages),
        pairs=dict(pairs),
        words=words.total(),
        different_words=len(different),
        characters=len(set().union(*characters.values())),
        scripts=scripts,
        lacking=lacking_splits(tables, languages),
    )


def check_enough(pairs: Mapping[str, int], languages: Sequence[str]) -> None:
    """`InputError` for a language that has too few sentence pairs."""
    pivot = languages[0]
    for language in languages[1:]:
        number = sum(count for pair, count in pairs.items() if language in pair.split("-"))
        if number < FEWEST:
            others = " ".join(other for other in languages if other not in (language, pivot))
            raise InputError(
                f"{language} has {number} sentence pairs to train on, and a language needs {FEWEST}; add text"
                + (f", or leave it out: --languages {pivot} {others}" if others else "")
            )


def lacking_splits(tables: Sequence[Table], languages: Sequence[str]) -> tuple[str, ...]:
    """The held-out splits of which some pair with training text has none."""
    pairs = {
        split: {pair for table in tables if table.split == split for pair in pairs_of(table, languages)}
        for split in SPLITS
    }
    return tuple(split for split in SPLITS[1:] if not pairs["train"] <= pairs[split])
