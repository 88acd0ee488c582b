"""Passages translated: what reaches the model, and what comes back."""

import pytest

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


CHINESE = {
    "A dog runs.": "狗在跑。",
    "“Two cats sleep.”": "“两只猫在睡觉。”",
    "Here is Linux.": "这里有Linux。",
}


def between_sentences(runs, made, source, target):
    passage = Passage((*map(Run, runs),))
    return translate_passages(
        [passage], [source], lambda lines, _: [made[line] for line in lines], target=target
    )[0]


def test_a_space_comes_between_sentences_of_a_language_that_has_none_there_and_goes():
    english = {chinese: line for line, chinese in CHINESE.items()}
    there, back = ["".join(CHINESE.values())], ["A dog runs. “Two cats sleep.” Here is Linux."]
    assert between_sentences(there, english, "zh", "en") == back
    assert between_sentences(back, CHINESE, "en", "zh") == there
    assert between_sentences(["狗在跑。", "这里有Linux。"], english, "zh", "en") == [
        "A dog runs. ",
        "Here is Linux.",
    ]


def test_a_line_that_ends_between_sentences_stays_there():
    runs = ["A dog runs.\n“Two cats sleep.”  Here is Linux."]
    assert between_sentences(runs, CHINESE, "en", "zh") == ["狗在跑。\n“两只猫在睡觉。”  这里有Linux。"]
    assert between_sentences(["狗在跑。  "], {"狗在跑。": "A dog runs."}, "zh", "en") == ["A dog runs.  "]


def test_all_lines_of_a_language_are_asked_for_at_once_and_each_once():
    asked = []

    def translate(lines, source):
        asked.append((source, lines))
        return shout(lines, source)

    translate_passages(PASSAGES, ["en", "en", "en", "en", "da"], translate, target="xx")
    (first, lines), (second, others) = asked
    assert (first, second, others) == ("en", "da", ["One sentence."])
    assert len(lines) == len({*lines}) and lines[:3] == ["One sentence.", "Another one.", "With bold words."]


def test_what_the_model_has_nothing_for_stays_and_is_said(caplog):
    passages = [Passage((Run("One. Two."),))]
    made = translate_passages(passages, ["en"], lambda lines, _: ["", "ZWEI."], target="de")
    assert made == [["One. ZWEI."]] and "has nothing for 1 pieces, which stay: One." in caplog.text


def test_a_title_of_which_the_model_makes_a_full_stop_alone_stays_and_is_said(caplog):
    passages = [Passage((Run("Contents"),)), Passage((Run("Well."),))]
    made = translate_passages(passages, ["en"] * 2, lambda lines, _: [".", "."], target="de")
    assert made == [["Contents"], ["."]] and "has nothing for 1 pieces, which stay: Contents" in caplog.text


def test_a_passage_in_the_target_language_stays():
    texts = translate_passages(PASSAGES, ["xx", "en", "en", "en", "en"], shout, target="xx")
    assert texts[0] == ["  One  sentence. Another\none. "] and texts[4] == ["ONE SENTENCE."]


def test_where_a_fixed_part_is_lost_its_sides_are_translated_apart():
    passage = Passage((Run("Delete "), Run("%(n)d", fixed=True), Run(" files now.")))
    losing = lambda lines, source: [line.replace("%(n)d", "").upper() for line in lines]  # noqa: E731
    assert translate_passages([passage], ["en"], losing, target="xx") == [["DELETE ", "%(n)d", " FILES NOW."]]


@pytest.mark.parametrize("unseen", ["\u00ad", "\ufeff"])
def test_words_are_read_without_characters_that_nobody_sees(unseen):
    text = f"Steam{unseen}ship com{unseen}pany"
    passages = [Passage((Run(text),)), Passage((Run("The "), Run(text), Run(".")))]
    made = translate_passages(passages, ["en"] * 2, shout, target="xx")
    assert made == [["STEAMSHIP COMPANY"], ["THE ", "STEAMSHIP COMPANY", "."]]
    assert translate_passages(passages[:1], ["xx"], shout, target="xx") == [[text]]


def test_what_stands_between_two_spaces_keeps_both():
    """As a formula or the place of a value does, which no run has."""
    for texts, expected in (
        (("You have ", " messages."), ["YOU HAVE ", " MESSAGES."]),
        (("You have ", "messages."), ["YOU HAVE ", "MESSAGES."]),
        (("You have", " messages."), ["YOU HAVE", " MESSAGES."]),
        (("You ", " have ", " messages."), ["YOU ", " HAVE ", " MESSAGES."]),
    ):
        passage = Passage((*map(Run, texts),))
        assert translate_passages([passage], ["en"], shout, target="xx") == [expected]
    reordered = {"You have messages.": "消息。"}
    unspaced = lambda lines, source: [reordered.get(line, "-") for line in lines]  # noqa: E731
    passage = Passage((Run("You have "), Run(" messages.")))
    ((first, second),) = translate_passages([passage], ["en"], unspaced, target="zh")
    assert first + second == "消息。"


def test_addresses_and_codes_stay_and_words_around_them_are_translated():
    for text, expected in (
        ("See https://example.com/a?b=1, please.", "SEE https://example.com/a?b=1, PLEASE."),
        (
            "Write to me.too@example.org or www.example.org.",
            "WRITE TO me.too@example.org OR www.example.org.",
        ),
        ("Shoe A4711-B of the 20th century", "SHOE A4711-B OF THE 20TH CENTURY"),
        ("A4711-B", "A4711-B"),
        ("1.299,00 kr", "1.299,00 KR"),
    ):
        assert translate_passages([Passage((Run(text),))], ["en"], shout, target="xx") == [[expected]]


def test_words_around_what_stays_keep_their_marks_where_the_model_loses_it():
    """Where a fixed part is not in the translation, what stands before and after it is translated apart."""
    source = Passage((Run("Hello "), Run("{name}", fixed=True), Run(", you have "), Run("%d", fixed=True)))
    translate = {"Hello": "Hej.", "you have": "du har."}

    def lossy(lines, language):
        return [translate.get(line, "nonsense") for line in lines]

    assert translate_passages([source], ["en"], lossy, target="sv") == [["Hej ", "{name}", ", du har ", "%d"]]


def test_what_has_no_words_or_is_fixed_stays_where_parts_are_translated_apart():
    """Nothing of it is taken for a mark around words."""
    texts = ("Open ", ".config:", " now", ", 12", " and wait")
    source = Passage(tuple(Run(text, fixed=text == ".config:") for text in texts))

    def lossy(lines, language):
        return [line.upper() if line in ("Open", "now", "and wait") else "nonsense" for line in lines]

    made = translate_passages([source], ["en"], lossy, target="xx")
    assert made == [["OPEN ", ".config:", " NOW", ", 12", " AND WAIT"]]


def test_a_full_stop_that_a_title_did_not_have_is_left_out():
    def stops(lines, language):
        return [f"{line}." for line in lines]

    titles = [Passage((Run(text),)) for text in ("A red chair", "A red chair.", "Why?")]
    assert translate_passages(titles, ["en"] * 3, stops, target="sv") == [
        ["A red chair"],
        ["A red chair.."],
        ["Why?."],
    ]


def test_what_goes_on_after_a_title_stays():
    """Three points are no full stop."""
    texts = translate_passages([Passage((Run("To be"),))], ["en"], lambda *_: ["Att vara..."], target="sv")
    assert texts == [["Att vara..."]]


def test_a_title_has_no_full_stop_of_any_script():
    for stop in ".。।۔።។။։":
        assert between_sentences(["Contents"], {"Contents": f"目次{stop}"}, "en", "xx") == ["目次"]
        assert between_sentences(["It ends."], {"It ends.": f"了{stop}"}, "en", "xx") == [f"了{stop}"]
