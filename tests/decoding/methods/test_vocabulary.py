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


def test_a_mask_that_leaves_nothing_is_refused(dictionary):
    with pytest.raises(InputError, match="8 times leaves none with a letter to de; give a smaller number"):
        penalties(Mask(pieces=8), COUNTS, dictionary)


@pytest.mark.parametrize("piece, has", {"▁und": True, "é": True, "ा": True, "▁1.": False, "€": False}.items())
def test_letters_are_those_of_any_script(piece, has):
    assert has_letter(piece) == has
