"""Passages translated: what reaches the model, and what comes back."""

from tests.documents.shouting import shout
from zsnmt.documents.passages import Passage, Run
from zsnmt.documents.translation import translate_passages

PASSAGES = [
    Passage((Run("  One  sentence. Another\none. "),)),
    Passage((Run("12:30 — 14:00"),)),
    Passage((Run(""),)),
    Passage((Run("With "), Run("bold"), Run(" words."))),
    Passage((Run("One sentence."),)),
]


def test_space_around_sentences_stays_and_what_has_no_word_is_not_translated():
    texts = translate_passages(PASSAGES, ["en"] * 5, shout, target="xx")
    assert texts == [
        ["  ONE SENTENCE. ANOTHER ONE. "],
        ["12:30 — 14:00"],
        [""],
        ["WITH ", "BOLD", " WORDS."],
        ["ONE SENTENCE."],
    ]


def test_space_between_sentences_stays_in_its_own_run():
    runs = ("\n ", "One. ", " ", "\t", "Two", ".", " \n")
    (texts,) = translate_passages([Passage((*map(Run, runs),))], ["en"], shout, target="xx")
    assert texts == ["\n ", "ONE. ", " ", "\t", "TWO", ".", " \n"]


def test_all_lines_of_a_language_are_asked_for_at_once_and_each_once():
    asked = []

    def translate(lines, source):
        asked.append((source, lines))
        return shout(lines, source)

    translate_passages(PASSAGES, ["en", "en", "en", "en", "da"], translate, target="xx")
    (first, lines), (second, others) = asked
    assert (first, second, others) == ("en", "da", ["One sentence."])
    assert len(lines) == len({*lines}) and lines[:3] == ["One sentence.", "Another one.", "With bold words."]


def test_a_passage_in_the_target_language_stays():
    texts = translate_passages(PASSAGES, ["xx", "en", "en", "en", "en"], shout, target="xx")
    assert texts[0] == ["  One  sentence. Another\none. "] and texts[4] == ["ONE SENTENCE."]


def test_where_a_fixed_part_is_lost_its_sides_are_translated_apart():
    passage = Passage((Run("Delete "), Run("%(n)d", fixed=True), Run(" files now.")))
    losing = lambda lines, source: [line.replace("%(n)d", "").upper() for line in lines]  # noqa: E731
    assert translate_passages([passage], ["en"], losing, target="xx") == [["DELETE ", "%(n)d", " FILES NOW."]]
