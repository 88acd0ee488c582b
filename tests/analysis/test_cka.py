"""Linear CKA: 1 for the same states turned around, and equal to its definition by Gram matrices."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from zsnmt.analysis.cka import linear_cka
from zsnmt.errors import InputError

N, D, OTHER_D = 29, 5, 7


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.fixture
def pair(generator) -> tuple[np.ndarray, np.ndarray]:
    """States N×D and N×OTHER_D that have something in common."""
    one = generator.standard_normal((N, D)) * np.arange(1, D + 1) + 10
    return one, one @ generator.standard_normal((D, OTHER_D)) + 5 * generator.standard_normal((N, OTHER_D))


@pytest.mark.parametrize("debiased", [False, True])
def test_rotation_scale_and_shift_do_not_matter(pair, generator, debiased):
    one, other = pair
    turned = 3 * one @ ortho_group(D, seed=generator).rvs() - generator.standard_normal(D)
    assert linear_cka(one, turned, debiased) == pytest.approx(1)
    assert linear_cka(turned, other, debiased) == pytest.approx(linear_cka(one, other, debiased))
    assert linear_cka(one * 1e200, other * 1e-200, debiased) == pytest.approx(
        linear_cka(one, other, debiased)
    )


@pytest.mark.parametrize("debiased", [False, True])
def test_the_two_sides_and_the_order_of_the_sentences_do_not_matter(pair, generator, debiased):
    one, other = pair
    order = generator.permutation(N)
    there = linear_cka(one, other, debiased)
    assert there == pytest.approx(linear_cka(other, one, debiased))
    assert there == pytest.approx(linear_cka(one[order], other[order], debiased))
    assert linear_cka(one, other[order], debiased) < there < 1, "but rows belong together"


def test_variance_matters(pair, generator):
    one, _ = pair
    assert linear_cka(one, one @ (generator.standard_normal((D, D)) + np.eye(D))) < 0.99


def test_it_equals_hsic_of_centred_gram_matrices(pair):
    """Kornblith et al. 2019, equations 3 and 4: HSIC(K, L) = tr(KHLH) / (N-1)²."""
    centring = np.eye(N) - 1 / N

    def hsic(one, other):
        return np.trace(one @ one.T @ centring @ other @ other.T @ centring) / (N - 1) ** 2

    one, other = pair
    assert linear_cka(one, other) == pytest.approx(
        hsic(one, other) / np.sqrt(hsic(one, one) * hsic(other, other))
    )


def test_debiased_it_equals_the_unbiased_hsic_of_gram_matrices(pair):
    """The unbiased estimate of Song et al. 2012, written with Gram matrices of states that are not
    centred.
    """
    ones = np.ones(N)

    def hsic(one, other):
        a, b = (gram - np.diag(np.diag(gram)) for gram in (one @ one.T, other @ other.T))
        return (
            np.trace(a @ b)
            + (ones @ a @ ones) * (ones @ b @ ones) / ((N - 1) * (N - 2))
            - 2 / (N - 2) * (ones @ a @ b @ ones)
        ) / (N * (N - 3))

    one, other = pair
    expected = hsic(one, other) / np.sqrt(hsic(one, one) * hsic(other, other))
    assert linear_cka(one, other, debiased=True) == pytest.approx(expected)


def test_independent_states_have_the_stated_value(generator):
    sentences, sizes = 301, (41, 61)
    drawn = [[generator.standard_normal((sentences, size)) for size in sizes] for _ in range(20)]
    expected = np.prod([np.sqrt(size / (sentences + size)) for size in sizes])
    assert np.mean([linear_cka(*pair) for pair in drawn]) == pytest.approx(expected, rel=0.02)
    debiased = [linear_cka(*pair, debiased=True) for pair in drawn]
    assert abs(np.mean(debiased)) < 0.01 and min(debiased) < 0


@pytest.mark.parametrize(
    "one, other, debiased, message",
    [
        (np.eye(5), np.eye(6), False, "of 5 and of 6 sentences .* the same sentence"),
        (np.eye(5), np.ones((5, 3)), False, "all 5 rows of the states are the same"),
        (np.eye(5), np.full((5, 3), np.nan), False, "row 1 of the states, and 5 of 5 in all"),
        (np.eye(3), np.eye(3), True, "needs 4 sentences or more, not 3"),
        (np.eye(5), np.arange(10).reshape(5, 2), True, "equally far from each other"),
    ],
)
def test_states_that_cannot_be_compared_are_refused(one, other, debiased, message):
    with pytest.raises(InputError, match=message):
        linear_cka(one, other, debiased)


def test_fewer_sentences_than_dimensions_are_no_fault(generator):
    one, other = generator.standard_normal((2, D, N))
    assert 0 < linear_cka(one, other) < 1
