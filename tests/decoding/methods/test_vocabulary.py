"""Which pieces a mask leaves to a language."""

import math

import pytest
import torch
from fairseq.data import Dictionary

from zsnmt.decoding.methods.pieces import has_letter
from zsnmt.decoding.methods.settings import Mask
from zsnmt.decoding.methods.vocabulary import penalties
from zsnmt.errors import InputError

COUNTS = {"de": {"▁und": 7, "▁so": 2, "a": 1}, "en": {"▁and": 9, "▁so": 5, "12": 3}}
PIECES = ["__de__", "__en__", "▁und", "▁and", "▁so", "a", "12", "▁", ".", "ा", "▁—9"]


@pytest.fixture
def dictionary() -> Dictionary:
    dictionary = Dictionary()
    for piece in PIECES:
        dictionary.add_symbol(piece)
    return dictionary


def forbidden(mask: Mask, dictionary: Dictionary, language: str) -> set[str]:
    values = penalties(mask, COUNTS, dictionary)[language]
    assert values.shape == (len(dictionary),) and {*values.tolist()} <= {0.0, -(mask.penalty or math.inf)}
    return {dictionary[place] for place in values.nonzero().flatten().tolist()} - {*PIECES[:2]}


def test_pieces_with_a_letter_that_a_language_uses_too_rarely_are_forbidden(dictionary):
    """Numbers, punctuation, the space and all special symbols are free; a vowel sign alone is as a letter."""
    assert forbidden(Mask(), dictionary, "de") == {"▁and", "ा"}
    assert forbidden(Mask(), dictionary, "en") == {"▁und", "a", "ा"}
    assert forbidden(Mask(pieces=2), dictionary, "de") == {"▁and", "a", "ा"}
    assert forbidden(Mask(pieces=3), dictionary, "de") == {"▁and", "a", "▁so", "ा"}
    assert forbidden(Mask(pieces=3, penalty=2.5), dictionary, "de") == {"▁and", "a", "▁so", "ा"}
    assert torch.equal(penalties(Mask(penalty=0), COUNTS, dictionary)["de"], torch.zeros(len(dictionary)))


def test_pieces_are_preferred_as_they_belong_to_the_language(dictionary):
    """γ·log P(l | v), by Bayes' rule from the shares of the pieces with a letter; others are free."""
    values = penalties(Mask(prefer=0.5), COUNTS, dictionary)
    lettered = [*PIECES[:2], "▁und", "▁and", "▁so", "a", "ा"]  # tags, too, which are never written
    of_language = {
        language: {piece: counts.get(piece, 0) for piece in lettered} for language, counts in COUNTS.items()
    }
    frequency = {
        language: {piece: 1e-6 + number / sum(numbers.values()) for piece, number in numbers.items()}
        for language, numbers in of_language.items()
    }
    for language in COUNTS:
        for place, symbol in enumerate(dictionary.symbols):
            expected = 0.0
            if symbol in lettered:
                share = frequency[language][symbol] / sum(each[symbol] for each in frequency.values())
                expected = 0.5 * math.log(share)
            assert values[language][place].item() == pytest.approx(expected, abs=1e-6), symbol
    assert values["de"][dictionary.index("▁und")] > -1e-5 and values["en"][dictionary.index("▁und")] < -6
    many = {"de": {piece: 1000 * number for piece, number in COUNTS["de"].items()}, "en": COUNTS["en"]}
    assert torch.equal(
        penalties(Mask(prefer=0.5), many, dictionary)["de"], values["de"]
    )  # more text, the same
    numbers = penalties(Mask(prefer=0.5), {**COUNTS, "de": {"12": 4}}, dictionary)  # no letter in its text
    assert all(of_language.isfinite().all() for of_language in numbers.values())
    for language in COUNTS:
        assert not penalties(Mask(prefer=0), COUNTS, dictionary)[language].any()


@pytest.mark.parametrize(
    "settings",
    [{"penalty": 1.0}, {"pieces": 2}, {"renormalise": True}, {"prefer": -1.0}, {"prefer": math.inf}],
)
def test_what_does_not_go_with_a_preference_is_refused(settings):
    with pytest.raises(InputError, match="prefer="):
        Mask(**{"prefer": 0.5, **settings})


def test_a_mask_that_leaves_nothing_is_refused(dictionary):
    with pytest.raises(InputError, match="8 times leaves none with a letter to de; give a smaller number"):
        penalties(Mask(pieces=8), COUNTS, dictionary)


@pytest.mark.parametrize("piece, has", {"▁und": True, "é": True, "ा": True, "▁1.": False, "€": False}.items())
def test_letters_are_those_of_any_script(piece, has):
    assert has_letter(piece) == has
