"""Terms of the first layer's logits: they add up to the logit, and bands are where positions or words
alone decide.
"""

import numpy as np
import pytest

from zsnmt.analysis.correlations import band_shares, correlations
from zsnmt.errors import InputError

V, P, D = 13, 7, 6


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.fixture
def words(generator) -> np.ndarray:
    return generator.standard_normal((V, D))


@pytest.fixture
def positions(generator) -> np.ndarray:
    return generator.standard_normal((P, D))


@pytest.fixture
def weights(generator) -> np.ndarray:
    """Of queries and of keys, outputs × inputs."""
    return generator.standard_normal((2, D, D))


def projected(vector: np.ndarray, weight: np.ndarray, head: int, heads: int) -> np.ndarray:
    """What torch's linear layer makes of it, one head's part."""
    size = D // heads
    return np.array(
        [sum(weight[out, i] * vector[i] for i in range(D)) for out in range(head * size, (head + 1) * size)]
    )


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_it_equals_the_definition(words, positions, weights, heads):
    found = correlations(words, positions, *weights, heads)
    cosines = correlations(words, positions, *weights, heads, cosine=True)
    assert found.shape == (V, P)
    for i, j in ((0, 0), (12, 3), (5, 6)):
        pairs = [
            (projected(words[i], weights[0], head, heads), projected(positions[j], weights[1], head, heads))
            for head in range(heads)
        ]
        assert found[i, j] == pytest.approx(np.mean([q @ k / np.sqrt(D / heads) for q, k in pairs]))
        assert cosines[i, j] == pytest.approx(np.mean([q @ k / np.sqrt(q @ q * (k @ k)) for q, k in pairs]))


def test_the_four_terms_add_up_to_the_logit(generator, weights):
    words, positions = generator.standard_normal((2, P, D))
    terms = [correlations(one, other, *weights) for one in (words, positions) for other in (words, positions)]
    assert sum(terms) == pytest.approx(correlations(words + positions, words + positions, *weights))


def test_queries_and_keys_change_places(words, positions, weights):
    there = correlations(words, positions, *weights)
    assert correlations(positions, words, *weights[::-1]) == pytest.approx(there.T)
    assert correlations(positions, words, *weights) != pytest.approx(there.T), "position–word is another term"


def test_cosines_are_within_one_and_blind_to_length(words, positions, weights):
    found = correlations(words, positions, *weights, 2, cosine=True)
    longer = correlations(words * np.arange(1, V + 1)[:, None], positions * 1e-9, *weights, 2, cosine=True)
    assert np.abs(found).max() < 1 and longer == pytest.approx(found)
    same = correlations(words, words, weights[0], weights[0], cosine=True)
    assert np.diag(same) == pytest.approx(1)


def test_independent_cosines_have_the_size_of_chance(generator):
    words, positions, weights = (
        generator.standard_normal(shape) for shape in ((300, 64), (200, 64), (2, 64, 64))
    )
    for heads in (1, 4):
        found = correlations(words, positions, *weights, heads, cosine=True)
        assert band_shares(found).size == pytest.approx(1 / np.sqrt(64), rel=0.15)


def test_bands_of_positions_of_words_and_none(generator):
    by_position, by_word = (
        np.tile(generator.standard_normal(P), (V, 1)),
        np.tile(generator.standard_normal((V, 1)), P),
    )
    assert (band_shares(by_position).columns, band_shares(by_position).rows) == pytest.approx((1, 0))
    assert (band_shares(by_word).columns, band_shares(by_word).rows) == pytest.approx((0, 1))
    both = band_shares(by_position + by_word)
    assert both.columns + both.rows == pytest.approx(1) and min(both.columns, both.rows) > 0.05
    assert band_shares(3 * by_position + 8).columns == pytest.approx(1), "scale and shift do not matter"


def test_shares_are_the_naive_sums(words, positions, weights):
    values = correlations(words, positions, *weights)
    mean = values.sum() / (V * P)
    total = sum((value - mean) ** 2 for value in values.ravel())
    explained = sum(V * (column.sum() / V - mean) ** 2 for column in values.T)
    assert band_shares(values).columns == pytest.approx(explained / total)
    assert band_shares(values).rows == pytest.approx(band_shares(values.T).columns)
    assert band_shares(values).size == pytest.approx(
        np.sqrt(sum(value**2 for value in values.ravel()) / (V * P))
    )


def test_independent_rows_have_one_share_each(generator):
    cells = band_shares(generator.standard_normal((200, 50)))
    assert (cells.columns, cells.rows) == (pytest.approx(1 / 200, rel=0.5), pytest.approx(1 / 50, rel=0.5))
    drawn = [
        band_shares(
            correlations(
                generator.standard_normal((200, 16)),
                generator.standard_normal((50, 16)),
                *generator.standard_normal((2, 16, 16)),
            )
        )
        for _ in range(40)
    ]
    assert np.mean([one.columns for one in drawn]) == pytest.approx(1 / 200, rel=0.5)
    assert np.mean([one.rows for one in drawn]) == pytest.approx(1 / 50, rel=0.5)


def test_a_common_part_of_the_words_is_a_band(words, positions, weights):
    values = [band_shares(correlations(words + shift, positions, *weights)).columns for shift in (0, 1, 5)]
    assert values[0] < values[1] < values[2] and values[2] > 0.7


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"words": np.ones((V, D - 1))},
            r"queries \(13, 5\), keys \(7, 6\) and weights \(6, 6\) and \(6, 6\) do not fit",
        ),
        ({"query_weight": np.ones((D, D - 1))}, "do not fit; give N×d, M×d and twice d×d"),
        (
            {"words": np.ones(D)},
            r"an array of shape \(6,\) has no correlations; give rows × columns of finite numbers",
        ),
        ({"key_weight": np.full((D, D), np.nan)}, "of finite numbers"),
        ({"heads": 4}, "6 dimensions do not divide into 4 heads; give the model's number of heads"),
        ({"heads": 0}, "do not divide into 0 heads"),
        ({"words": np.zeros((V, D)), "cosine": True}, "a projected vector is zero and has no cosine"),
    ],
)
def test_what_has_no_correlations(words, positions, weights, change, message):
    given = {
        "words": words,
        "positions": positions,
        "query_weight": weights[0],
        "key_weight": weights[1],
        **change,
    }
    with pytest.raises(InputError, match=message):
        correlations(given.pop("words"), given.pop("positions"), **given)


@pytest.mark.parametrize("values", [np.ones((V, P)), np.arange(P)[None], np.arange(V)[:, None]])
def test_what_has_no_bands(values):
    with pytest.raises(
        InputError, match="has no bands; give two rows and columns or more, of different values"
    ):
        band_shares(values)
