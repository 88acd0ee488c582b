"""The fake language: a copy that can be undone, and that shares special symbols or none."""

import numpy as np
import pytest

from zsnmt.errors import InputError
from zsnmt.masked_lm.fake_language import FakeLanguage

SIZE, SPECIALS = 11, 5


@pytest.mark.parametrize("specials", [0, 1, SPECIALS, SIZE])
def test_the_copy_can_be_undone(specials):
    language, ids = FakeLanguage(SIZE, specials), np.arange(SIZE)
    shifted = language.shift(ids)
    assert np.array_equal(language.invert(shifted), ids) and len(set(shifted)) == SIZE
    assert np.array_equal(language.shift(language.invert(shifted)), shifted)


@pytest.mark.parametrize("specials", [0, 1, SPECIALS, SIZE])
def test_only_specials_are_shared(specials):
    ids = np.arange(SIZE)
    shifted = FakeLanguage(SIZE, specials).shift(ids)
    assert np.array_equal(shifted[:specials], ids[:specials]) and np.array_equal(
        shifted[specials:], ids[specials:] + SIZE
    )
    assert set(shifted) & set(ids) == set(range(specials))


def test_a_text_keeps_its_shape_and_its_order():
    language, text = FakeLanguage(SIZE, SPECIALS), np.array([[7, 2, 9], [10, 7, 0]])
    assert language.shift(text).tolist() == [[18, 2, 20], [21, 18, 0]] and text[0, 0] == 7
    assert language.shift([]).tolist() == language.invert([]).tolist() == []
    assert language.shift(7) == 18 and language.invert(18) == 7


def test_symbols_have_names_of_their_own():
    names = FakeLanguage(3).names(["<s>", "a", "b"])
    assert names == ["<s>", "a", "b", "[<s>]", "[a]", "[b]"]


@pytest.mark.parametrize("symbols", [["...", "[...]", "x"], ["[", "]", "[[]"], ["a", "[a]", "[[a]]"]])
def test_no_name_is_that_of_another_symbol(symbols):
    """Text may have brackets of its own, like those of an omission."""
    names = FakeLanguage(3).names(symbols)
    assert names[:3] == symbols and len(set(names)) == 6
    assert all(name.strip("[]") == symbol.strip("[]") for name, symbol in zip(names[3:], symbols))


@pytest.mark.parametrize("wrong", [-1, SIZE, SIZE + SPECIALS])
def test_a_symbol_that_is_not_of_the_original_is_refused(wrong):
    with pytest.raises(InputError, match=f"symbol {wrong} is not of the original, whose ids are 0 to 10"):
        FakeLanguage(SIZE, SPECIALS).shift([3, wrong, 4])


@pytest.mark.parametrize(
    "specials, wrong",
    [(SPECIALS, SPECIALS), (SPECIALS, SIZE + 4), (SPECIALS, 2 * SIZE), (0, 0), (SPECIALS, -1), (0, -1)],
)
def test_a_symbol_that_is_not_of_the_copy_is_refused(specials, wrong):
    with pytest.raises(
        InputError, match=f"symbol {wrong} is not of the copy, whose ids are {SIZE + specials} to 21"
    ):
        FakeLanguage(SIZE, specials).invert([SIZE + 6, wrong])


@pytest.mark.parametrize("specials", [-1, SIZE + 1])
def test_a_number_of_shared_symbols_that_cannot_be_is_refused(specials):
    with pytest.raises(
        InputError, match=f"{specials} of 11 symbols cannot be shared; give a number from 0 to 11"
    ):
        FakeLanguage(SIZE, specials)
