"""In which of a model's languages a text is."""

from pathlib import Path

import pytest

from zsnmt.scoring.lexicon_identifier import LexiconIdentifier
from zsnmt.serving.detection import LexiconDetector, NaturalDetector, detect_all, detector_of

GERMAN = "Das ist ein ziemlich langer deutscher Satz über das Wetter von gestern."
FRENCH = "Voici une phrase française assez longue sur le temps qu'il faisait hier."


def test_languages_are_ranked_by_probabilities_that_sum_to_one():
    ranked = NaturalDetector(["en", "de", "fr"]).rank(GERMAN)
    assert ranked[0][0] == "de" and {language for language, _ in ranked} == {"en", "de", "fr"}
    assert sum(sureness for _, sureness in ranked) == pytest.approx(1)
    assert NaturalDetector(["en", "de", "fr"]).rank("  ") == []


def test_languages_have_the_codes_of_the_model():
    assert NaturalDetector(["eng", "ger", "fr_CA"]).rank(GERMAN)[0][0] == "ger"


def test_only_the_models_languages_are_found():
    assert {NaturalDetector(["nl", "fr"]).rank(GERMAN)[0][0]} == {"nl"}


def test_words_are_looked_up_where_the_languages_are_invented(tmp_path):
    for language, words in {"xa": "mu\nlo\n", "xb": "mu\nsi\n"}.items():
        (tmp_path / f"lexicon.{language}").write_text(words)
    detector = detector_of(["xa", "xb"], tmp_path)
    assert isinstance(detector, LexiconDetector)
    assert detector.rank("Mu, lo.") == [("xa", 1.0), ("xb", 0.5)] and detector.rank("nothing") == []
    assert detector.rank("") == detector.rank("...") == []
    assert detector.rank("mu lo ! ?") == [("xa", 1.0), ("xb", 0.5)]  # marks alone are no words


def test_nothing_tells_unknown_languages_apart():
    assert detector_of(["xa", "xb"], Path("not/there")) is None
    assert isinstance(detector_of(["en", "de"], Path("not/there")), NaturalDetector)


def test_short_texts_follow_the_others_and_long_ones_do_not():
    detector = LexiconDetector(LexiconIdentifier({"xa": ["mu"], "xb": ["si"]}))
    long, short = " ".join(["mu"] * 20), "si"
    assert detect_all(detector, [long, short, ""]) == [("xa", 1.0)] + [("xa", 20 / 21)] * 2
    numbers = "si 2024-11-26 23:10 2024-11-27 08:00 12345"  # letters count, not characters
    assert detect_all(detector, [long, numbers])[1][0] == "xa"
    assert detect_all(detector, [short]) == [("xb", 1.0)] and detect_all(detector, [""]) == [None]


def test_short_texts_follow_those_of_their_script():
    detector = NaturalDetector(["en", "de", "ja", "ru", "zh"])
    texts = [GERMAN, "我今天很高兴。", "Hotel", "спасибо", "お元気ですか", "10:30"]
    assert [language for language, _ in detect_all(detector, texts[:4] + texts[5:])] == [
        *("de", "zh", "de", "ru", "de")
    ]
    assert detect_all(detector, texts[4:])[0][0] == "ja"


def test_a_short_text_of_which_its_script_says_nothing_follows_all():
    detector = LexiconDetector(LexiconIdentifier({"xa": ["mu"], "xb": ["si"]}))
    assert [language for language, _ in detect_all(detector, ["mu mu", "да"])] == ["xa", "xa"]


def test_long_texts_are_each_in_their_language():
    found = detect_all(NaturalDetector(["en", "de", "fr"]), [GERMAN, FRENCH])
    assert [language for language, _ in found] == ["de", "fr"]
