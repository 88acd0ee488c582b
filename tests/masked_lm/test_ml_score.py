"""The multilingual score: the published tables' own arithmetic, and word translation as retrieval of
single words.
"""

import numpy as np
import pytest

from zsnmt.analysis.retrieval import retrieval
from zsnmt.errors import InputError
from zsnmt.masked_lm.ml_score import ml_score


@pytest.mark.parametrize(
    "shares, printed",
    [
        ((4.82, 54.09, 47.09, 27.62), 33.4),  # Ravishankar and Søgaard 2021, table 4, Bible: sinusoidal
        ((2.54, 41.34, 40.39, 13.92), 24.55),  # table 4, Bible: TUPE (relative)
        ((37.43, 97.29, 77.03, 64.07), 68.95),  # table 4, Wiki: sinusoidal
        ((2.30, 32.79, 24.54, 13.20), 18.21),  # table 5, Bible, Arabic: sinusoidal
        ((4.90, 24.07, 17.72, 6.00), 13.17),  # table 5, Bible, Basque: absolute
        ((1.24, 15.41, 14.80, 4.71), 9.04),  # table 5, Bible, Hindi: relative key
    ],
)
def test_the_papers_rows(shares, printed):
    first, eighth, first_words, eighth_words = (share / 100 for share in shares)
    found = ml_score({"0": first, "8": eighth}, {"0": first_words, "8": eighth_words})
    assert 100 * found == pytest.approx(printed, abs=0.011), "printed with two places, the mean and its parts"


def test_it_is_the_mean_of_all_four():
    assert ml_score({"0": 1, "8": 1}, {"8": 1, "0": 1}) == 1
    for at in range(4):
        shares = np.eye(4)[at]
        assert ml_score(dict(zip("08", shares[:2])), dict(zip("08", shares[2:]))) == 0.25


def test_word_translation_is_retrieval_of_the_shifted_words():
    generator = np.random.default_rng(5)
    vectors = generator.standard_normal((2 * 31, 7))  # a vocabulary and its shifted copy
    first, shifted = vectors[:31], vectors[31:]
    shifted[:20] = 3 * first[:20]
    found = retrieval(first, shifted)
    assert found.forward >= 20 / 31 and found.mean == (found.forward + found.backward) / 2
    assert retrieval(first, first * 2).mean == 1


@pytest.mark.parametrize(
    "found, words, message",
    [
        (
            {"0": 0.1, "8": 0.2},
            {"0": 0.1, "6": 0.2},
            r"retrieval at the layers \['0', '8'\] and translation at \['0', '6'\] make no",
        ),
        ({"0": 0.1}, {"0": 0.1}, "measure both at the same two layers, such as 0 and 8"),
        (
            {"0": 10, "8": 0.2},
            {"0": 0.1, "8": 0.2},
            r"P@1 of \[10, 0.2, 0.1, 0.2\] are not all shares; give numbers from 0 to 1",
        ),
    ],
)
def test_what_makes_no_score(found, words, message):
    with pytest.raises(InputError, match=message):
        ml_score(found, words)
