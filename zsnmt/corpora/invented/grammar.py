"""Small grammars of invented languages: meanings are sampled, and each language renders all of a meaning.

Nothing that one language says is left out by another, and a sentence has one reading only. So
translation between any two languages is a function, and a perfect model scores 100 BLEU. A grammar
makes a dependency tree, of which the text is the words.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from random import Random
from typing import NamedTuple

from zsnmt.corpora.invented.lexicon import MARKINGS, inflect, pick
from zsnmt.errors import InputError

CHOICES = {
    "word_order": ("SVO", "SOV", "VSO"),
    "adjective_order": ("before", "after"),
    "adpositions": ("before", "after"),
    "case_marking": ("none", *MARKINGS),
    "number_marking": MARKINGS,
    "definiteness_marking": MARKINGS,
    "tense_marking": MARKINGS,
}
TENSES = ("present", "past", "future")


@dataclass(frozen=True)
class Language:
    """The typology of one invented language; the defaults are those of an English-like language.

    Adjectives and numerals stand `before` or `after` the noun, adpositions before or after the noun
    phrase. Patients are marked by `case_marking`, plural, definite and past or future as named; a
    marking is a `particle` (first in its phrase), a `prefix` or a `suffix`. Raises InputError.
    """

    name: str
    family: str
    word_order: str = "SVO"
    adjective_order: str = "before"
    adpositions: str = "before"
    case_marking: str = "none"
    number_marking: str = "suffix"
    definiteness_marking: str = "particle"
    tense_marking: str = "suffix"

    def __post_init__(self) -> None:
        for field in fields(self):
            value, choices = getattr(self, field.name), CHOICES.get(field.name)
            if choices and value not in choices:
                raise InputError(
                    f"language {self.name}: {field.name} is {value!r}, which is not a choice; "
                    f"take one of {', '.join(choices)}"
                )
            if not choices and not (isinstance(value, str) and re.fullmatch("[a-z][a-z0-9_]*", value)):
                raise InputError(
                    f"{field.name} {value!r} of a language is not a code; use lowercase letters, digits and "
                    "_, with a letter first"
                )


@dataclass(frozen=True)
class NounPhrase:
    """A noun with what modifies it; concepts are named as in the inventory."""

    noun: str
    plural: bool
    definite: bool
    numeral: str | None
    adjectives: tuple[str, ...]

    @property
    def size(self) -> int:
        """Concepts named in the phrase."""
        return 1 + (self.numeral is not None) + len(self.adjectives)


@dataclass(frozen=True)
class Clause:
    """Who did what to whom, where and how; `relation` and `place` come together."""

    agent: NounPhrase
    verb: str
    patient: NounPhrase | None
    relation: str | None
    place: NounPhrase | None
    adverb: str | None
    tense: str
    negative: bool

    @property
    def size(self) -> int:
        """Concepts named in the clause."""
        phrases = sum(phrase.size for phrase in (self.agent, self.patient, self.place) if phrase)
        return phrases + 1 + (self.relation is not None) + (self.adverb is not None)


@dataclass(frozen=True)
class Meaning:
    """What a sentence says: one clause, or two and how they are joined."""

    clause: Clause
    conjunction: str | None
    second: Clause | None
    question: bool

    @property
    def size(self) -> int:
        """Concepts named in the sentence."""
        return self.clause.size + (1 + self.second.size if self.second else 0)


def sample_noun_phrase(inventory: Mapping[str, Sequence[str]], rng: Random) -> NounPhrase:
    """A noun phrase with at most one numeral and two adjectives; adjectives come in the inventory's order."""
    plural = rng.random() < 0.4
    adjectives = {pick(rng, inventory["adjective"]) for _ in range(pick(rng, (0, 0, 0, 1, 1, 2)))}
    return NounPhrase(
        noun=pick(rng, inventory["noun"]),
        plural=plural,
        definite=rng.random() < 0.5,
        numeral=pick(rng, inventory["numeral"]) if plural and rng.random() < 0.3 else None,
        adjectives=tuple(sorted(adjectives, key=inventory["adjective"].index)),
    )


def sample_clause(inventory: Mapping[str, Sequence[str]], rng: Random, subordinate: bool = False) -> Clause:
    """A clause; a subordinate one has no adpositional phrase."""
    transitive = rng.random() < 0.65
    placed = not subordinate and rng.random() < 0.4
    return Clause(
        agent=sample_noun_phrase(inventory, rng),
        verb=pick(rng, inventory["transitive" if transitive else "intransitive"]),
        patient=sample_noun_phrase(inventory, rng) if transitive else None,
        relation=pick(rng, inventory["adposition"]) if placed else None,
        place=sample_noun_phrase(inventory, rng) if placed else None,
        adverb=pick(rng, inventory["adverb"]) if rng.random() < 0.3 else None,
        tense=pick(rng, TENSES),
        negative=rng.random() < 0.15,
    )


def sample_meaning(
    inventory: Mapping[str, Sequence[str]], rng: Random, second_clause_share: float
) -> Meaning:
    """A meaning; `second_clause_share` (0-1) of the meanings have two clauses."""
    joined = rng.random() < second_clause_share
    return Meaning(
        clause=sample_clause(inventory, rng),
        conjunction=pick(rng, inventory["conjunction"]) if joined else None,
        second=sample_clause(inventory, rng, subordinate=True) if joined else None,
        question=rng.random() < 0.1,
    )


class Word(NamedTuple):
    """A word with the words that depend on it, those before and those after it in the order of the sentence.

    It says a concept of the inventory, a marker that is a particle, or the `mark` that ends a sentence;
    `affixes` are the markers inside it. `role` is that of a noun (agent, patient, place) or of a verb (first,
    second: its clause), and None of other words.
    """

    form: str
    concept: str
    affixes: tuple[str, ...] = ()
    before: tuple["Word", ...] = ()
    after: tuple["Word", ...] = ()
    role: str | None = None

    def words(self) -> Iterator["Word"]:
        """This word and all below it, in the order of the sentence."""
        for word in self.before:
            yield from word.words()
        yield self
        for word in self.after:
            yield from word.words()


def plain(stems: Mapping[str, str], *concepts: str | None) -> tuple[Word, ...]:
    """The words of those concepts that are not None, without affixes and dependents."""
    return tuple(Word(stems[concept], concept) for concept in concepts if concept is not None)


def mark_word(concept: str, marks: Sequence[tuple[str, str]], stems: Mapping[str, str]) -> Word:
    """The word of a concept, with affixes and particles that say `marks`: (marker, marking) from the stem
    outwards.
    """
    return Word(
        inflect(stems[concept], [(stems[marker], marking) for marker, marking in marks]),
        concept,
        affixes=tuple(marker for marker, marking in marks if marking != "particle"),
        before=plain(stems, *(marker for marker, marking in reversed(marks) if marking == "particle")),
    )


def noun_marks(language: Language, plural: bool, definite: bool, patient: bool) -> list[tuple[str, str]]:
    """What a language marks on a noun phrase, from the stem outwards."""
    marks = [
        ("plural", language.number_marking if plural else "none"),
        ("definite", language.definiteness_marking if definite else "none"),
        ("patient", language.case_marking if patient else "none"),
    ]
    return [mark for mark in marks if mark[1] != "none"]


def verb_marks(language: Language, tense: str) -> list[tuple[str, str]]:
    """What a language marks on a verb; the present is unmarked."""
    return [] if tense == "present" else [(tense, language.tense_marking)]


def noun_tree(
    phrase: NounPhrase | None,
    role: str,
    language: Language,
    stems: Mapping[str, str],
    relation: str | None = None,
) -> tuple[Word, ...]:
    """The noun of a phrase, if there is one, with particles first, then what modifies it; the adposition
    outside all.
    """
    if phrase is None:
        return ()
    noun = mark_word(
        phrase.noun, noun_marks(language, phrase.plural, phrase.definite, patient=role == "patient"), stems
    )
    modifiers, adposition = plain(stems, phrase.numeral, *phrase.adjectives), plain(stems, relation)
    before, after = (modifiers, ()) if language.adjective_order == "before" else ((), modifiers[::-1])
    before = noun.before + before
    if language.adpositions == "before":
        before = adposition + before
    else:
        after = after + adposition
    return (noun._replace(before=before, after=after, role=role),)


def clause_tree(
    clause: Clause, role: str, language: Language, stems: Mapping[str, str], conjunction: str | None = None
) -> Word:
    """The verb of a clause, with the conjunction first and the rest in the language's order."""
    verb = mark_word(clause.verb, verb_marks(language, clause.tense), stems)
    particles = plain(stems, "not" if clause.negative else None) + verb.before
    agent = noun_tree(clause.agent, "agent", language, stems=stems)
    patient = noun_tree(clause.patient, "patient", language, stems=stems)
    place = noun_tree(clause.place, "place", language, stems=stems, relation=clause.relation)
    adverb = plain(stems, clause.adverb)
    before, after = {
        "SVO": (agent + particles, patient + place + adverb),
        "SOV": (adverb + agent + place + patient + particles, ()),
        "VSO": (particles, agent + patient + place + adverb),
    }[language.word_order]
    return verb._replace(before=plain(stems, conjunction) + before, after=after, role=role)


def sentence_tree(meaning: Meaning, language: Language, stems: Mapping[str, str]) -> Word:
    """The verb of the first clause, on which the second clause and the final . or ? depend."""
    verb = clause_tree(meaning.clause, "first", language, stems=stems)
    if meaning.second:
        second = clause_tree(meaning.second, "second", language, stems=stems, conjunction=meaning.conjunction)
        verb = verb._replace(after=(*verb.after, second))
    return verb._replace(after=(*verb.after, Word("?" if meaning.question else ".", "mark")))


def render(meaning: Meaning, language: Language, stems: Mapping[str, str]) -> str:
    """The sentence that says `meaning` in `language`, as raw text: capital letter, final . or ?"""
    *words, mark = (word.form for word in sentence_tree(meaning, language, stems).words())
    sentence = " ".join(words)
    return sentence[0].upper() + sentence[1:] + mark


def word_forms(
    language: Language, inventory: Mapping[str, Sequence[str]], stems: Mapping[str, str]
) -> list[str]:
    """All words that `language` can write, lowercased and sorted."""
    words = {stems["not"]}
    for word_class, concepts in inventory.items():
        for concept, marks in itertools.product(concepts, paradigm(language, word_class)):
            words.update(word.form for word in mark_word(concept, marks, stems).words())
    return sorted(words)


def paradigm(language: Language, word_class: str) -> list[list[tuple[str, str]]]:
    """What a language can mark on the words of a class, from the stem outwards."""
    if word_class == "noun":
        return [noun_marks(language, *cell) for cell in itertools.product((False, True), repeat=3)]
    if word_class in ("transitive", "intransitive"):
        return [verb_marks(language, tense) for tense in TENSES]
    return [[]]
