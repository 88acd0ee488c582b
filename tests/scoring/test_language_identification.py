"""Language identification: the floor under every off-target rate."""

from types import SimpleNamespace

import pytest

from zsnmt.errors import InputError
from zsnmt.scoring import language_identification
from zsnmt.scoring.language_identification import (
    ForeignTest,
    NaturalLanguageIdentifier,
    load_identifier,
    scripts_of,
    shares,
)

EUROPEAN = [
    "This is a house with a red door.",
    "Das ist ein Haus mit einer roten Tür.",
    "C'est une maison rouge.",
    "2018.",
    " ",
]
HINDI, MARATHI = "यह लाल दरवाज़े वाला एक घर है।", "हे लाल दार असलेले एक घर आहे."
TAMIL, GEORGIAN, MEITEI = "இது ஒரு சிவப்பு வீடு.", "ეს წითელი სახლია.", "ꯃꯁꯤ ꯌꯨꯝ ꯑꯃꯅꯤ꯫"
JAPANESE, CHINESE, KOREAN = (
    "これは赤いドアの家です。",
    "这是一座有红门的房子。",
    "이것은 빨간 문이 있는 집입니다.",
)
INDIC = {"en": "Latin", "hi": "Devanagari", "mr": "Devanagari", "ta": "Tamil"}


def by_script(tmp_path, scripts):
    return load_identifier("py3langid", [*scripts], tmp_path, scripts)[0]


@pytest.mark.slow
def test_natural_languages_are_told_apart_among_those_of_the_experiment(tmp_path):
    identifier, signature = load_identifier("py3langid", ["en", "de", "fr"], tmp_path)
    assert identifier.identify(EUROPEAN[:3] + [" "]) == ["en", "de", "fr", "unknown"]
    assert "py3langid" in signature and "en de fr" in signature
    # Dutch is not among them, so it cannot be the answer
    assert identifier.identify(["Dit is een huis met een rode deur."])[0] in ("en", "de", "fr")


@pytest.mark.parametrize(
    "scripts", [None, {}, {"en": "Latin"}, {"en": "Latin", "de": "Latin", "fr": "Latin", "ta": "Tamil"}]
)
def test_without_scripts_that_differ_py3langid_alone_decides(tmp_path, scripts):
    languages, sentences = ["en", "de", "fr"], [*EUROPEAN, TAMIL, GEORGIAN, "..."]
    identifier, signature = load_identifier("py3langid", languages, tmp_path, scripts)
    assert signature == load_identifier("py3langid", languages, tmp_path)[1] and "script" not in signature
    assert identifier.identify(sentences) == NaturalLanguageIdentifier(languages).identify(sentences)


def test_codes_of_three_letters_and_with_a_country_are_known(tmp_path):
    languages = ["eng", "deu", "fr_CA"]
    identifier, _ = load_identifier("py3langid", languages, tmp_path)
    assert identifier.identify(EUROPEAN[:3]) == languages
    assert not ForeignTest("deu", "Latin")(EUROPEAN[1]) and ForeignTest("deu", "Latin")(EUROPEAN[2])
    with pytest.raises(InputError, match="cannot tell apart pt_PT, pt_BR, en .two of them are one language"):
        NaturalLanguageIdentifier(["pt_PT", "pt_BR", "en"])


def test_restrictions_do_not_disturb_each_other():
    european, indic = NaturalLanguageIdentifier(["en", "de"]), NaturalLanguageIdentifier(["hi", "mr"])
    assert european.identify(EUROPEAN[:2]) == ["en", "de"] and indic.identify([HINDI, MARATHI]) == [
        "hi",
        "mr",
    ]


def test_the_script_decides_and_py3langid_where_it_is_shared(tmp_path):
    identifier, signature = load_identifier("py3langid", [*INDIC], tmp_path, INDIC)
    assert identifier.identify([HINDI, MARATHI, TAMIL, EUROPEAN[0]]) == ["hi", "mr", "ta", "en"]
    assert identifier.identify(EUROPEAN[1:3]) == ["en", "en"]  # the only language in Latin letters
    within = NaturalLanguageIdentifier(["hi", "mr"])
    words = f"{HINDI} {MARATHI}".split()
    assert identifier.identify(words) == within.identify(words)
    assert signature.endswith(
        "restricted to en hi mr ta, by script: Devanagari (hi mr), Latin (en), Tamil (ta)"
    )


def test_most_letters_decide_about_a_mixed_sentence(tmp_path):
    identifier = by_script(tmp_path, {"en": "Latin", "hi": "Devanagari"})
    assert identifier.identify([f"{HINDI} (Anna)", "This is the house of Anna, घर.", "Anna Smith: हाँ!"]) == [
        "hi",
        "en",
        "en",
    ]
    # vowel signs are not letters to Unicode, but as much writing as the vowels of English: 4 consonants, 4
    # signs
    assert identifier.identify(["नीति से भी Hamburg"]) == ["hi"]


@pytest.mark.parametrize("code", ["nb", "nob", "no"])
def test_bokmal_is_known_by_each_of_its_codes(code):
    sentence = "Jeg vet ikke hvor han gikk hen etter at toget kom til Bergen."
    assert NaturalLanguageIdentifier(["en", code, "nn"]).identify([sentence]) == [code]
    assert ForeignTest(code, "Latin").known


def test_what_is_in_no_script_of_the_experiment_is_unknown(tmp_path):
    identifier = by_script(tmp_path, INDIC)
    assert identifier.identify([GEORGIAN, JAPANESE, "2018.", "...", "☺", "", " "]) == ["unknown"] * 7
    assert identifier.identify(["௨௦௧௮", "२०१८"])[0] == "ta" and identifier.identify(["२०१८"])[0] in (
        "hi",
        "mr",
    )


def test_a_script_of_its_own_needs_no_language_that_py3langid_knows(tmp_path, monkeypatch):
    monkeypatch.setattr(language_identification, "NaturalLanguageIdentifier", None)  # nor its model
    identifier = by_script(tmp_path, {"en": "Latin", "mni": "Meetei Mayek", "velan": "Georgian"})
    assert identifier.identify([MEITEI, GEORGIAN, EUROPEAN[0], TAMIL]) == ["mni", "velan", "en", "unknown"]


@pytest.mark.parametrize(
    "scripts", [{"en": "Latin", "velan": "Latin", "ta": "Tamil"}, {"en": "Latin", "ta": "Tamil"}]
)
def test_a_language_that_py3langid_does_not_know_is_refused_where_it_must_decide(tmp_path, scripts):
    with pytest.raises(InputError, match="cannot tell apart en, velan .*ISO 639-1"):
        load_identifier("py3langid", ["en", "velan", "ta"], tmp_path, scripts)


def test_a_language_without_a_script_may_be_in_any(tmp_path):
    identifier, signature = load_identifier(
        "py3langid", ["en", "hi", "mr"], tmp_path, {"en": "Latin", "hi": "Devanagari"}
    )
    assert identifier.identify([HINDI, MARATHI, EUROPEAN[0], TAMIL]) == ["hi", "mr", "en", "unknown"]
    assert signature.endswith("by script: Devanagari (hi mr), Latin (en mr)")


def test_scripts_are_found_from_references():
    references = {
        "en": ["2018 !!!", "Ω is a letter of Greek."],
        "hi": [HINDI, "Anna"],
        "mni": [MEITEI],
        "aa": ["1, 2", "?"],
        "bb": [],
    }
    assert scripts_of(references) == {"en": "Latin", "hi": "Devanagari", "mni": "Meetei Mayek"}


def test_languages_that_mix_scripts_stay_whole(tmp_path):
    scripts = scripts_of({"en": EUROPEAN[:1], "ja": [JAPANESE], "zh": [CHINESE], "ko": [KOREAN, "漢"]})
    assert scripts == {"en": "Latin", "ja": "Han", "zh": "Han", "ko": "Hangul"}
    identifier = by_script(tmp_path, scripts)
    assert identifier.identify([JAPANESE, CHINESE, KOREAN, EUROPEAN[0]]) == ["ja", "zh", "ko", "en"]
    alone = by_script(tmp_path, {"en": "Latin", "ja": "Han"})
    assert alone.identify(["東京都庁", "きれいですね。", "コーヒー"]) == ["ja"] * 3


def test_scripts_save_work_of_py3langid_and_each_character_is_looked_up_once(tmp_path, monkeypatch):
    identifier, asked = by_script(tmp_path, INDIC), []
    (told_apart,) = identifier.within.values()
    identify = told_apart.identify
    monkeypatch.setattr(told_apart, "identify", lambda lines: asked.extend(lines) or identify(lines))
    sentences = [HINDI, MARATHI, TAMIL, EUROPEAN[0]]
    language_identification.script_of_character.cache_clear()
    assert identifier.identify(sentences * 3) == ["hi", "mr", "ta", "en"] * 3
    assert asked == [HINDI, MARATHI] * 3
    looked_up = language_identification.script_of_character.cache_info().misses
    assert looked_up == len({*"".join(sentences)})


def test_lexicons_beside_the_text(tmp_path):
    (tmp_path / "lexicon.aa").write_text("ba\nbi\n")
    (tmp_path / "lexicon.bb").write_text("ko\nku\n")
    for scripts in (None, {"aa": "Latin", "bb": "Tamil"}):
        identifier, signature = load_identifier("lexicon", ["aa", "bb"], tmp_path, scripts)
        assert identifier.identify(["Ba bi ko.", "ku ko", "zz", ""]) == ["aa", "bb", "unknown", "unknown"]
        assert signature == "lexicon of aa bb"


def test_wrong_languages_and_kinds_are_refused(tmp_path):
    with pytest.raises(InputError, match="ISO 639-1"):
        NaturalLanguageIdentifier(["en", "velan"])
    with pytest.raises(InputError, match="py3langid or lexicon"):
        load_identifier("guess", ["en"], tmp_path)


def test_shares_add_up_and_begin_with_the_largest():
    assert shares(["en", "de", "en", "fr", "en"]) == {"en": 0.6, "de": 0.2, "fr": 0.2}


@pytest.mark.parametrize(
    "sentence, probability, foreign",
    [
        ("Ein Haus.", 0.0099, True),
        ("Ein Haus.", 0.01, False),  # another language is likelier, but this one is not out of the question
        ("Ein Haus.", 0.4, False),
        (GEORGIAN, 0.4, True),
        ("2018.", 0.0, False),
    ],
)
def test_a_sentence_is_foreign_by_its_script_or_where_a_language_is_all_but_impossible(
    sentence, probability, foreign
):
    test = ForeignTest("de", "Latin")
    test.model = SimpleNamespace(
        classify=lambda sentence: ("en", 0.5), rank=lambda sentence: [("en", 0.5), ("de", probability)]
    )
    assert test(sentence) == foreign
