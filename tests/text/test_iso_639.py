"""Codes of two letters and of three."""

import pytest

from zsnmt.text.iso_639 import THREE_LETTERS, TWO_LETTERS, two_letters


@pytest.mark.parametrize(
    "code, two",
    [
        ("de", "de"),
        ("deu", "de"),
        ("ger", "de"),
        ("cmn", "zh"),
        ("zho", "zh"),
        ("de_CH", "de"),
        ("zho_Hant", "zh"),
        ("arb_Arab", "ar"),
        ("ENG", "en"),
        ("iw", "he"),
        ("in_ID", "id"),
        ("inglan", "inglan"),
        ("sov1", "sov1"),
    ],
)
def test_each_code_of_a_language_leads_to_that_of_two_letters(code, two):
    assert two_letters(code) == two


def test_no_code_has_two_meanings():
    back = {two: TWO_LETTERS[three] for two, three in THREE_LETTERS.items()}
    assert {two: code for two, code in back.items() if two != code} == {"no": "nb"}  # Bokmål, as corpora mean
    assert all(len(three) == 3 and two in THREE_LETTERS for three, two in TWO_LETTERS.items())
