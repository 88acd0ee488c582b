"""The meanings of invented words."""

import pytest

from zsnmt.corpora.invented.corpus import SyntheticCorpus
from zsnmt.corpora.invented.gloss import ENGLISH, UNKNOWN, Dictionary, english, two_lines
from zsnmt.corpora.invented.lexicon import MARKERS

CORPUS = SyntheticCorpus(concepts=60, pairs=20, valid=20, test=20)
DICTIONARY = Dictionary(CORPUS)


def test_a_sentence_has_the_same_meanings_in_all_languages():
    meanings = CORPUS.meanings()["test"]
    for meaning in meanings:
        said = set()
        for language in CORPUS.languages:
            words = DICTIONARY.interlinear(CORPUS.render(meaning, language), language.name)
            parts = "+".join(part for _, part in words if part).split("+")
            assert UNKNOWN not in parts and "[" not in "".join(parts)
            said.add(tuple(sorted(part for part in parts if part != "(object)")))  # not all mark the patient
        assert len(said) == 1


def test_every_concept_has_one_english_word():
    concepts = [concept for names in CORPUS.inventory.values() for concept in names]
    words = [english(concept) for concept in (*concepts, *MARKERS)]
    assert len({*words}) == len(words)
    assert english("noun1") == "dog" and english(f"noun{len(ENGLISH['noun']) + 1}").startswith("noun")


def test_words_of_other_languages_and_of_none_are_told():
    pivot, other, *_ = CORPUS.languages
    known, others = (DICTIONARY.meanings[language.name] for language in (pivot, other))
    word = next(word for word in known if word not in others)
    (_, foreign), (_, unknown), mark = DICTIONARY.interlinear(f"{word.capitalize()} xyzzy.", other.name)
    assert foreign == f"{known[word]} [{pivot.name}]"
    assert unknown == UNKNOWN and mark == (".", "")


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ([("Ba", "dog"), ("tiku", "-"), (".", "")], ("Ba   tiku  .", "dog  -")),
        ([], ("", "")),
    ],
)
def test_meanings_stand_below_their_words(words, lines):
    assert two_lines(words) == lines
