"""Small grammars of invented languages: meanings are sampled, and each language renders all of a meaning.

Nothing that one language says is left out by another, and a sentence has one reading only. So
translation between any two languages is a function, and a perfect model scores 100 BLEU.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from random import Random

from zsnmt.corpora.synthetic_lexicon import MARKINGS, inflect, pick
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
                    f"{field.name} {value!r} of a language is not a code; "
                    "use lowercase letters, digits and _, with a letter first"
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


def sample_meaning(inventory: Mapping[str, Sequence[str]], rng: Random, second_clause_share: float) -> Meaning:
    """A meaning; `second_clause_share` (0-1) of the meanings have two clauses."""
    joined = rng.random() < second_clause_share
    return Meaning(
        clause=sample_clause(inventory, rng),
        conjunction=pick(rng, inventory["conjunction"]) if joined else None,
        second=sample_clause(inventory, rng, subordinate=True) if joined else None,
        question=rng.random() < 0.1,
    )


def marked(stem: str, marks: Sequence[tuple[str, str]], stems: Mapping[str, str]) -> tuple[list[str], str]:
    """The particles and the inflected word that say `marks`: (marker, marking) from the stem outwards."""
    particles = [stems[marker] for marker, marking in reversed(marks) if marking == "particle"]
    return particles, inflect(stem, [(stems[marker], marking) for marker, marking in marks])


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


def noun_phrase_words(
    phrase: NounPhrase | None, language: Language, stems: Mapping[str, str], patient: bool = False
) -> list[str]:
    """The words of a noun phrase: particles first, then the noun between or beside what modifies it."""
    if phrase is None:
        return []
    marks = noun_marks(language, phrase.plural, phrase.definite, patient)
    particles, noun = marked(stems[phrase.noun], marks, stems)
    modifiers = [stems[phrase.numeral]] if phrase.numeral else []
    modifiers += [stems[adjective] for adjective in phrase.adjectives]
    if language.adjective_order == "before":
        return [*particles, *modifiers, noun]
    return [*particles, noun, *reversed(modifiers)]


def clause_words(clause: Clause, language: Language, stems: Mapping[str, str]) -> list[str]:
    """The words of a clause in the language's order."""
    particles, verb = marked(stems[clause.verb], verb_marks(language, clause.tense), stems)
    predicate = [stems["not"]] * clause.negative + [*particles, verb]
    agent = noun_phrase_words(clause.agent, language, stems)
    patient = noun_phrase_words(clause.patient, language, stems, patient=True)
    place = noun_phrase_words(clause.place, language, stems)
    relation = [stems[clause.relation]] if clause.relation else []
    place = relation + place if language.adpositions == "before" else place + relation
    adverb = [stems[clause.adverb]] if clause.adverb else []
    return {
        "SVO": agent + predicate + patient + place + adverb,
        "SOV": adverb + agent + place + patient + predicate,
        "VSO": predicate + agent + patient + place + adverb,
    }[language.word_order]


def render(meaning: Meaning, language: Language, stems: Mapping[str, str]) -> str:
    """The sentence that says `meaning` in `language`, as raw text: capital letter, final . or ?"""
    words = clause_words(meaning.clause, language, stems)
    if meaning.second:
        words += [stems[meaning.conjunction], *clause_words(meaning.second, language, stems)]
    sentence = " ".join(words)
    return sentence[0].upper() + sentence[1:] + ("?" if meaning.question else ".")


def word_forms(language: Language, inventory: Mapping[str, Sequence[str]], stems: Mapping[str, str]) -> list[str]:
    """All words that `language` can write, lowercased and sorted."""
    words = {stems["not"]}
    for word_class, concepts in inventory.items():
        if word_class == "noun":
            paradigm = [noun_marks(language, *cell) for cell in itertools.product((False, True), repeat=3)]
        elif word_class in ("transitive", "intransitive"):
            paradigm = [verb_marks(language, tense) for tense in TENSES]
        else:
            paradigm = [[]]
        for concept, marks in itertools.product(concepts, paradigm):
            particles, word = marked(stems[concept], marks, stems)
            words.update(particles, [word])
    return sorted(words)
