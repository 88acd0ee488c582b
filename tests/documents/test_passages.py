"""Sentences of passages, and translations that take the looks of their sources."""

import random
import time

import pytest

from zsnmt.documents.passages import Part, Passage, Run, Sentence, sentences_of, share_out


def sentence(*texts, fixed=()):
    return Sentence((), tuple(Part(place, text, place in fixed) for place, text in enumerate(texts)), ())


def whole(cut):
    """The text of sentences with the space around them."""
    return "".join(part.text for each in cut for part in (*each.before, *each.parts, *each.after))


def test_sentences_and_the_space_between_them_are_the_passage():
    passage = Passage((Run("  Dr. Smith is "), Run("in. He"), Run("  waits.\n\nYes! ")))
    cut = sentences_of(passage, "en")
    assert [each.text for each in cut if each.parts] == ["Dr. Smith is in.", "He  waits.", "Yes!"]
    assert whole(cut) == passage.text
    assert [[part.run for part in each.parts] for each in cut if each.parts] == [[0, 1], [1, 2], [2]]


ODD_SPACES = [*"\u00a0\u202f\u3000\u2009\u2028\t\v", "\u00a0\u00a0", " \u00a0", "\u00a0\u202f "]
SPACES = [f"A{space}. B{space}. C" for space in ODD_SPACES]


@pytest.mark.parametrize("text", ["", "  ", "\n", "...", "a", "A. B. C.", *SPACES])
def test_every_text_is_cut_without_loss(text):
    cut = sentences_of(Passage((Run(text),)), "de")
    assert whole(cut) == text


@pytest.mark.parametrize("language", ["en", "eng", "en_GB"])
def test_abbreviations_of_a_language_end_no_sentence_whatever_its_code(language):
    text = "Dr. Jones is in. Mr. Smith is out."
    found = sentences_of(Passage((Run(text),)), language)
    assert [sentence.text for sentence in found] == ["Dr. Jones is in.", "Mr. Smith is out."]


def test_a_part_is_found_by_its_own_translation_also_far_from_its_proportion():
    source = sentence("The very long beginning of it is ", "blue", " now")
    assert share_out("Es ist blau, der lange Anfang", source, ["nichts", "blau", "nichts"]) == [
        "Es ist ",
        "blau",
        ", der lange Anfang",
    ]


def test_of_equal_words_the_one_at_the_place_of_its_source_is_taken():
    source = sentence("a b c d e f ", "das", " g")
    assert share_out("das x y z u das w", source, ["-", "das", "-"]) == ["das x y z u ", "das", " w"]


def test_words_within_words_are_not_found():
    assert share_out("ganz anders an", sentence("x ", "an"), ["-", "an"]) == ["ganz anders ", "an"]


@pytest.mark.parametrize(
    ("translation", "expected"),
    [
        ("ein Satz1 mit 10 Noten.", ["ein Satz", "1", " mit 10 Noten."]),
        ("mit 10 Noten ein Satz1.", ["mit 10 Noten ein Satz", "1", "."]),
        ("ein Satz[1] mit 10 Noten.", ["ein Satz", "[1]", " mit 10 Noten."]),
    ],
)
def test_the_number_of_a_note_behind_a_word_is_found(translation, expected):
    number = expected[1]
    source = sentence("a sentence", number, " with 10 notes.")
    assert share_out(translation, source, ["-", number, "-"]) == expected


def test_words_are_found_beside_others_that_do_not_stand_alone():
    source = sentence("x ", "a a", " y")
    assert share_out("ba a a.", source, ["-", "a a", "-"]) == ["ba ", "a a", "."]


def test_the_time_of_many_parts_and_of_much_space_does_not_explode():
    begin = time.process_time()
    for letters in ("a" * 2000, "a " * 2000):
        assert "".join(share_out(letters, sentence(*"b" * 2000), ["a"] * 2000) or []) == letters
    assert len(sentences_of(Passage((Run("a" + " " * 40_000 + "b"),)), "en")) == 1
    assert len(sentences_of(Passage((Run("A word. "), Run("")) * 5000), "en")) == 5000
    assert time.process_time() - begin < 5


def test_a_vowel_sign_stays_with_its_word():
    source = sentence("I like ", "Hindi", ", very much.")
    translation = "मुझे हिन्दी, बहुत पसंद है।"
    assert share_out(translation, source, ["-", "हिन्दी", "-"]) == ["मुझे ", "हिन्दी", ", बहुत पसंद है।"]
    assert share_out(translation, source, ["-", "हिन्द", "-"]) != ["मुझे ", "हिन्द", "ी, बहुत पसंद है।"]
    assert "हिन्दी" in share_out("हिन्दी, बहुत", sentence("Hindi", ", very much"), ["-", "-"])[0]


def test_an_end_goes_to_the_next_part_only_where_that_began_so():
    found_before = share_out(
        "Var \u00e4r min bok?", sentence("Hvor er ", "min bog", "?"), ["Var \u00e4r", "-", "-"]
    )
    assert found_before == ["Var \u00e4r ", "min bok", "?"]
    assert share_out("Ja. Dann", sentence("Yes. ", "Then"), ["-", "-"]) == ["Ja. ", "Dann"]
    assert share_out("Nein.", sentence("Certainly not", " now."), ["-", "-"]) == ["Nein.", ""]


def test_what_is_not_found_is_cut_in_proportion_between_words():
    assert share_out("aaaa bbbb cccc", sentence("dddd ", "eeee ffff"), ["-", "-"]) == ["aaaa ", "bbbb cccc"]
    assert share_out("你好世界", sentence("Hello", " world"), ["-", "-"]) == ["你好", "世界"]


def test_a_fixed_part_stands_alone_or_the_sentence_is_given_up():
    source = sentence("Delete ", "%d", " files", fixed=(1,))
    assert share_out("%d Dateien weg", source, ["x", "%d", "y"]) == ["", "%d", " Dateien weg"]
    assert share_out("Lösche %d Dateien", source, ["x", "%d", "y"]) == ["Lösche ", "%d", " Dateien"]
    assert share_out("Lösche Dateien", source, ["x", "%d", "y"]) is None
    ends = sentence("Open ", "{name}", fixed=(1,))
    assert share_out("Öffne {name} bitte", ends, ["x", "{name}"]) is None  # nothing has what follows


def test_the_parts_of_any_translation_are_the_translation_and_fixed_ones_keep_their_text():
    chance = random.Random(1)
    words = ["ab", "c", "%d", "e,", "(f)", "gh.", "ij"]
    given_up = 0
    for _ in range(3000):
        parts = [
            Part(place, " ".join(chance.choices(words, k=chance.randint(1, 3))) + " " * chance.randint(0, 1))
            for place in range(chance.randint(1, 5))
        ]
        parts = [part._replace(fixed=part.text == "%d") for part in parts]
        translation = " ".join(chance.choices(words, k=chance.randint(1, 8)))
        alone = [part.text if part.fixed else chance.choice(words) for part in parts]
        shared = share_out(translation, Sentence("", tuple(parts), ""), alone)
        given_up += shared is None
        if shared is not None:
            assert "".join(shared) == translation and len(shared) == len(parts)
            assert all(text == part.text for text, part in zip(shared, parts) if part.fixed)
    assert 0 < given_up < 1000


def test_a_sign_at_the_end_is_not_punctuation_and_brackets_keep_the_space_before_them():
    assert share_out("Preis 50 Euro", sentence("Price ", "50", "\u20ac"), ["-", "50", "-"]) == [
        "Preis ",
        "50",
        " Euro",
    ]
    assert share_out("Siehe (Anm. 1)", sentence("See ", "(note 1)"), ["Siehe", "-"]) == ["Siehe ", "(Anm. 1)"]


def test_a_full_stop_behind_a_fixed_part_takes_nothing_into_it():
    source = sentence("Delete ", "%d", ".", fixed=(1,))
    assert share_out("Lösche %d Stück.", source, ["-", "%d", "-"]) == ["Lösche ", "%d", " Stück."]
