"""The grammars: typology is where the language puts it, and every sentence has one reading."""

import itertools

import pytest

from zsnmt.corpora.invented.grammar import (
    CHOICES,
    Clause,
    Language,
    Meaning,
    NounPhrase,
    render,
    sample_meaning,
)
from zsnmt.corpora.invented.lexicon import FEWEST_CONCEPTS, MARKERS, concept_inventory, make_stems, stream

INVENTORY = concept_inventory(FEWEST_CONCEPTS)
LEVELS = {concept: "own" for concepts in INVENTORY.values() for concept in concepts}
CLAUSE = Clause(
    agent=NounPhrase("noun1", False, False, None, ("adjective1", "adjective2")),
    verb="transitive1",
    patient=NounPhrase("noun2", True, True, "numeral1", ()),
    relation="adposition1",
    place=NounPhrase("noun3", False, False, None, ()),
    adverb="adverb1",
    tense="past",
    negative=True,
)
PLAIN = Clause(
    NounPhrase("noun1", False, False, None, ()),
    "transitive1",
    NounPhrase("noun2", True, True, None, ()),
    None,
    None,
    None,
    "future",
    False,
)


def tokens(language: Language, clause: Clause) -> list[str]:
    """The words of a clause, each as its concept and affixes: `noun1+plural`."""
    stems = make_stems(language.name, language.family, INVENTORY, LEVELS, 0.0, 1)
    concepts = {form: concept for concept, form in stems.items()}

    def analyse(word: str) -> str | None:
        if word in concepts:
            return concepts[word]
        for marker in MARKERS:
            form = stems[marker]
            if word.startswith(form) and (rest := analyse(word.removeprefix(form))):
                return f"{marker}+{rest}"
            if word.endswith(form) and (rest := analyse(word.removesuffix(form))):
                return f"{rest}+{marker}"
        return None

    return [
        analyse(word)
        for word in render(Meaning(clause, None, None, False), language, stems)[:-1].lower().split()
    ]


def test_the_english_like_order_of_a_whole_clause() -> None:
    assert (
        tokens(Language("lang", "fam"), CLAUSE)
        == (
            "adjective1 adjective2 noun1 not transitive1+past definite numeral1 noun2+plural adposition1 "
            "noun3 adverb1"
        ).split()
    )


def test_the_order_of_a_clause_that_differs_in_everything() -> None:
    language = Language("lang", "fam", "SOV", "after", "after", "suffix", "prefix", "suffix", "particle")
    assert (
        tokens(language, CLAUSE)
        == (
            "adverb1 noun1 adjective2 adjective1 noun3 adposition1 plural+noun2+definite+patient numeral1 "
            "not past transitive1"
        ).split()
    )


@pytest.mark.parametrize("order", CHOICES["word_order"])
def test_agent_verb_and_patient_stand_in_the_word_order(order: str) -> None:
    language = Language("lang", "fam", word_order=order, definiteness_marking="prefix")
    roles = {"S": "noun1", "V": "transitive1+future", "O": "definite+noun2+plural"}
    assert tokens(language, PLAIN) == [roles[role] for role in order]


@pytest.mark.parametrize(
    "field, marker", [("case_marking", "patient"), ("number_marking", "plural"), ("tense_marking", "future")]
)
def test_marks_are_where_the_language_puts_them(field: str, marker: str) -> None:
    word = "transitive1" if marker == "future" else "noun2"
    others = dict(number_marking="particle", tense_marking="particle")
    said = {m: tokens(Language("lang", "fam", **{**others, field: m}), PLAIN) for m in CHOICES[field]}
    assert f"{word}+{marker}" in said["suffix"] and f"{marker}+{word}" in said["prefix"]
    assert marker in said["particle"] and word in said["particle"]
    assert not any(marker in token for token in said.get("none", []))


@pytest.mark.slow
def test_every_sentence_has_one_reading_under_any_typology() -> None:
    """A crowded space of meanings: whatever two of them say differently, every language says differently."""
    inventory = {word_class: concepts[:2] for word_class, concepts in INVENTORY.items()}
    rng = stream("crowded")
    meanings = {sample_meaning(inventory, rng, 0.2): None for _ in range(6000)}
    meanings = [meaning for meaning in meanings if meaning.size <= 5]
    assert len(meanings) > 1000
    typologies = sorted(itertools.product(*CHOICES.values()), key=lambda _: rng.random())[:30]
    for typology in typologies:
        language = Language("lang", "fam", *typology)
        stems = make_stems("lang", "fam", inventory, LEVELS, 0.0, 1)
        assert len({render(meaning, language, stems) for meaning in meanings}) == len(meanings), typology
