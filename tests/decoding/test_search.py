"""How to search: limits, scores, and what is refused."""

import math

import pytest

from zsnmt.decoding.search import Search
from zsnmt.errors import InputError


def test_a_limit_grows_with_the_source_as_far_as_the_model_writes():
    search = Search(max_len_a=1.2, max_len_b=50)
    assert [search.limit(length, 255) for length in (1, 5, 170, 171, 1000)] == [51, 56, 254, 255, 255]
    assert Search(max_len_a=0, max_len_b=7).limit(1000, 255) == 7


def test_a_score_is_the_log_probability_over_the_length_penalty():
    assert Search().score(-6.0, 4) == -1.5
    assert Search(length_penalty=0).score(-6.0, 4) == -6.0
    assert Search(length_penalty=2.5).score(-6.0, 4) == -6.0 / 32
    assert Search(length_penalty=2, length_penalty_form="gnmt").score(-6.0, 7) == -6.0 / 4


@pytest.mark.parametrize(
    "wrong, message",
    [
        (dict(beam=0), "a beam of 0 keeps nothing; give 1 or more"),
        (dict(length_penalty=-0.1), "the exponent of the length penalty is -0.1"),
        (dict(length_penalty=math.nan), "the exponent of the length penalty is nan"),
        (dict(length_penalty_form="square"), "no length penalty of the form 'square'; choose power or gnmt"),
    ],
)
def test_what_is_no_search_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        Search(**wrong)
