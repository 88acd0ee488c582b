"""Sentence retrieval: what is there is found, what is equal is not, in blocks of any size."""

import numpy as np
import pytest

from zsnmt.analysis import retrieval as module
from zsnmt.analysis.retrieval import retrieval, translation_ranks
from zsnmt.errors import InputError

N, D = 23, 7


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.fixture
def pair(generator) -> tuple[np.ndarray, np.ndarray]:
    """Translations that are near each other, not always nearest."""
    one = generator.standard_normal((N, D)) + 0.5
    return one, one + generator.standard_normal((N, D))


def naive_ranks(one: np.ndarray, other: np.ndarray, neighbours: int | None = None) -> list[int]:
    """The definitions, one similarity at a time."""
    cosine = np.array([[x @ y / np.sqrt((x @ x) * (y @ y)) for y in other] for x in one])
    nearness = cosine
    if neighbours:
        near_queries, near_answers = (
            np.array([np.mean(sorted(row)[-neighbours:]) for row in rows]) for rows in (cosine, cosine.T)
        )
        nearness = 2 * cosine - near_queries[:, None] - near_answers
    return [
        1 + sum(value >= row[i] for j, value in enumerate(row) if j != i) for i, row in enumerate(nearness)
    ]


@pytest.mark.parametrize("neighbours", [None, 1, 4, N])
def test_it_equals_the_definition(pair, neighbours):
    one, other = pair
    there, back = naive_ranks(one, other, neighbours), naive_ranks(other, one, neighbours)
    assert translation_ranks(one, other, neighbours).tolist() == there
    found = retrieval(one, other, neighbours)
    assert (
        0.1 < found.forward < 1
        and found.forward == there.count(1) / N
        and found.backward == back.count(1) / N
    )
    assert found.mean == (found.forward + found.backward) / 2


@pytest.mark.parametrize("neighbours", [None, 4])
def test_the_size_of_the_blocks_does_not_matter(pair, neighbours, monkeypatch):
    whole = translation_ranks(*pair, neighbours).tolist()
    for numbers in (1, N, 5 * N, 11 * N):
        monkeypatch.setattr(module, "BLOCK_NUMBERS", numbers)
        assert translation_ranks(*pair, neighbours).tolist() == whole


def test_the_same_states_are_found_whatever_their_length(pair, generator):
    one, other = pair
    longer = other * generator.uniform(0.1, 9, (N, 1))
    assert retrieval(one, one * 1e200).mean == 1
    assert retrieval(one, longer) == retrieval(one, other)
    assert retrieval(other, one).forward == retrieval(one, other).backward


def test_among_shuffled_states_those_that_stayed_are_found(generator):
    one = generator.standard_normal((N, D))
    order = np.arange(N)
    order[: N - 9] = np.roll(order[: N - 9], 1)
    assert retrieval(one, one[order]).forward == retrieval(one, one[order]).backward == 9 / N


def test_independent_states_are_found_by_chance(generator):
    ranks = translation_ranks(*generator.standard_normal((2, 1009, D)))
    assert (ranks == 1).mean() < 0.01 and ranks.min() >= 1 and ranks.max() <= 1009
    assert ranks.mean() == pytest.approx(505, rel=0.1)


def test_equal_sentences_are_not_found(pair):
    one, _ = pair
    for other in (one, one / 3):  # whose directions are equal but for rounding
        twice = np.vstack([one, other])
        assert (translation_ranks(twice, twice) == 2).all()
    assert (translation_ranks(np.ones((N, D)), np.ones((N, D))) == N).all(), (
        "an encoder that says nothing finds nothing"
    )


def test_csls_finds_what_a_hub_hides(generator):
    """Row 0 of the answers is near to all queries, so that many find it before their translation."""
    other = generator.standard_normal((N, 31))
    common = 6 * np.eye(31)[0]
    one = other + common
    other[0] = common
    assert retrieval(one, other).forward < 0.4 < 0.8 < retrieval(one, other, csls_neighbours=5).forward


@pytest.mark.parametrize(
    "one, other, neighbours, message",
    [
        (np.ones((5, 3)), np.ones((6, 3)), None, "of 5 and of 6 sentences .* the same sentence"),
        (np.ones((5, 3)), np.ones((5, 4)), None, "3 and 4 dimensions have no cosine"),
        (np.eye(5), np.diag([1, 1, 0, 1, 1]), None, "row 3 of the states is zero"),
        (np.eye(5), np.full((5, 5), np.inf), None, "row 1 of the states, and 5 of 5 in all"),
        (np.eye(5), np.ones(5), None, r"shape \(5,\)"),
        (np.eye(5), np.eye(5), 0, "CSLS over 0 neighbours .* from 1 to 5"),
        (np.eye(5), np.eye(5), 6, "CSLS over 6 neighbours .* from 1 to 5"),
    ],
)
def test_states_that_cannot_be_searched_are_refused(one, other, neighbours, message):
    with pytest.raises(InputError, match=message):
        retrieval(one, other, neighbours)
