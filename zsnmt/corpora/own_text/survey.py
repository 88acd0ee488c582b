"""What a person's text has: how much of it, in which languages and scripts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from zsnmt.corpora.cleaning import DIGITS, LONGEST
from zsnmt.corpora.own_text.languages import all_sentence_pairs, fewest_rows, pairs_of
from zsnmt.corpora.own_text.table import Table
from zsnmt.corpora.parallel_text import FEWEST_TO_TRAIN, SPLITS
from zsnmt.errors import InputError
from zsnmt.languages import Pair
from zsnmt.processes import progress
from zsnmt.scoring.language_identification import UNSPACED, main_script

CHARACTERS_OF_WORD = 2  # in these, about
COUNTED = 100_000  # different words at most: more make no difference to a vocabulary


@dataclass(frozen=True)
class Survey:
    """The languages, the pivot first; of the training text the sentence pairs of each pair, the words of both
    sides, the words that differ in more than their digits, the different characters, and the script of each
    language; which splits some pair lacks; the `stray` sentence pairs that are not trained on, since rows
    lack the pivot here and there; and the pairs that stand in rows `beside_pivot`, which give text with the
    pivot alone.
    """

    languages: tuple[str, ...]
    pairs: Mapping[str, int]
    words: int
    different_words: int
    characters: int
    scripts: Mapping[str, str]
    lacking: tuple[str, ...] = ()
    stray: Mapping[str, int] = field(default_factory=dict)
    beside_pivot: tuple[str, ...] = ()

    @property
    def without_pivot(self) -> list[str]:
        """The languages that have no text with the pivot."""
        pivot, *others = self.languages
        return [language for language in others if not self.has_pair(pivot, language)]

    def has_pair(self, one: str, other: str) -> bool:
        """Whether two languages have text together that is trained on."""
        return f"{one}-{other}" in self.pairs or f"{other}-{one}" in self.pairs

    @property
    def unspaced(self) -> list[str]:
        """The languages whose script has no spaces between words."""
        return [language for language in self.languages if self.scripts.get(language) in UNSPACED]


class Contents:
    """What the rows of training text have, each language by itself: words, characters, and the words that
    differ in more than their digits.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self.words: Counter[str] = Counter()
        self.characters: dict[str, Counter[str]] = {language: Counter() for language in languages}
        self.different = set[str]()

    def add(self, languages: Sequence[str], row: Sequence[str]) -> None:
        """Count the sentences of a row, but for one that cleaning leaves out, since it has too many
        characters for a sentence: it alone could be most of a small text.
        """
        if max(map(len, row)) > LONGEST:
            return
        for language, sentence in zip(languages, row):
            self.words[language] += len(sentence.split())
            self.characters[language].update(sentence)
            if len(self.different) < COUNTED:
                self.different.update(DIGITS.sub("0", sentence).split())

    def scripts(self) -> dict[str, str]:
        """The script of each language that has letters."""
        found = {language: main_script(characters) for language, characters in self.characters.items()}
        return {language: script for language, script in found.items() if script}

    def number_of_words(self) -> int:
        """How many words there are, about, in scripts without spaces by the characters."""
        scripts = self.scripts()
        return sum(
            characters.total() // CHARACTERS_OF_WORD
            if scripts.get(language) in UNSPACED
            else self.words[language]
            for language, characters in self.characters.items()
        )


def survey(tables: Sequence[Table], languages: Sequence[str], *, all_pairs: bool = False) -> Survey:
    """Read all tables once, and count what is trained on, which are `all_pairs` or those with the pivot;
    `InputError` for a fault in the text, and for a language with too little of it.
    """
    pairs: dict[str, Counter[Pair]] = {split: Counter() for split in SPLITS}
    contents = Contents(languages)
    of_tables = [(table, [*pairs_of(table, languages, all_pairs=all_pairs)]) for table in tables]
    for table, of_table in of_tables:  # also held-out ones: a fault is told of before anything is made
        rows = all_sentence_pairs(table, of_table, None if all_pairs else languages[0])
        for pair, row in progress(rows, f"reading {'-'.join(table.languages)}", unit=" pairs"):
            pairs[table.split][pair] += 1
            if table.split == "train":
                contents.add(pair, row)
    counted = {pair: number for pair in combinations(languages, 2) if (number := pairs["train"][pair])}
    of_training = [(table, {*of_table}) for table, of_table in of_tables if table.split == "train"]
    trained = {
        pair: number
        for pair, number in counted.items()
        if number >= fewest_rows([table for table, of in of_training if pair in of], pair, languages[0])
    }
    check_enough(named(trained), languages)
    return Survey(
        languages=tuple(languages),
        pairs=named(trained),
        stray=named({pair: number for pair, number in counted.items() if pair not in trained}),
        beside_pivot=tuple("-".join(pair) for pair in beside(tables, languages) if pair not in trained),
        words=contents.number_of_words(),
        different_words=len(contents.different),
        characters=len(set().union(*contents.characters.values())),
        scripts=contents.scripts(),
        lacking=tuple(split for split in SPLITS[1:] if not trained.keys() <= pairs[split].keys()),
    )


def beside(tables: Sequence[Table], languages: Sequence[str]) -> list[Pair]:
    """The pairs without the pivot that stand in rows of training text with it."""
    kinds = [kind for table in tables if table.split == "train" for kind in table.kinds]
    with_pivot = [kind for kind in kinds if languages[0] in kind]
    return [pair for pair in combinations(languages[1:], 2) if any({*pair} <= kind for kind in with_pivot)]


def named(pairs: Mapping[Pair, int]) -> dict[str, int]:
    """Numbers by pair, with pairs as `de-en`."""
    return {"-".join(pair): number for pair, number in pairs.items()}


def check_enough(pairs: Mapping[str, int], languages: Sequence[str]) -> None:
    """`InputError` for languages that have too few sentence pairs."""
    pivot, *others = languages
    numbers = {
        language: sum(count for pair, count in pairs.items() if language in pair.split("-"))
        for language in others
    }
    few = {language: number for language, number in numbers.items() if number < FEWEST_TO_TRAIN}
    if not few:
        return
    (first, number), *further = few.items()
    listed = "".join(f", {language} {number}" for language, number in further)
    enough = " ".join(language for language in others if language not in few)
    which = "them" if further else "it"
    instead = f", or leave {which} out: --languages {pivot} {enough}" if enough else ""
    raise InputError(
        f"{first} has {number} sentence pairs to train on{listed}, and a language needs {FEWEST_TO_TRAIN}; "
        f"add text{instead}"
    )
