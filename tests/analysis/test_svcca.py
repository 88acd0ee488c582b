"""SVCCA: 1 for the same states turned around, the random value for noise, the arithmetic of covariances."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from zsnmt.analysis.svcca import decompose, independent_mean, random_baseline, svcca, svcca_pairs
from zsnmt.errors import InputError

N, D, OTHER_D = 97, 7, 11


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.fixture
def states(generator) -> np.ndarray:
    """Directions of unequal variance, far from the origin."""
    return generator.standard_normal((N, D)) * 2.0 ** -np.arange(D) + 10


def similarity(one, other, variance: float = 0.99):
    return svcca(decompose(one, variance), decompose(other, variance))


def test_rotation_scale_and_shift_do_not_matter(states, generator):
    turned = 3 * states @ ortho_group(D, seed=generator).rvs() - generator.standard_normal(D)
    for variance in (0.5, 0.99, 1):
        assert similarity(states, turned, variance).correlations == pytest.approx(1)
    assert similarity(states * 1e200, states * 1e-200).mean == pytest.approx(1)


def test_any_invertible_map_does_not_matter_when_all_is_kept(states, generator):
    mapped = states @ (generator.standard_normal((D, D)) + 3 * np.eye(D))
    other = generator.standard_normal((N, OTHER_D)) + states[:, :1]
    assert similarity(states, mapped, 1).correlations == pytest.approx(1)
    assert similarity(mapped, other, 1).correlations == pytest.approx(
        similarity(states, other, 1).correlations
    )
    stretched = states * 4.0 ** np.arange(D)
    assert similarity(states, stretched, 0.5).mean < 0.5, (
        "the cut is made where the variance is, and a map moves it"
    )


def test_the_two_sides_and_the_order_of_the_sentences_do_not_matter(states, generator):
    other = np.sin(states @ generator.standard_normal((D, OTHER_D)))
    order = generator.permutation(N)
    there, back, shuffled = (
        similarity(states, other),
        similarity(other, states),
        similarity(states[order], other[order]),
    )
    assert there.mean == pytest.approx(back.mean) == pytest.approx(shuffled.mean)
    assert there.kept == back.kept[::-1]
    assert similarity(states, other[order]).mean < there.mean, "but rows belong together"


def test_what_is_recorded(states, generator):
    found = similarity(states, generator.standard_normal((N, OTHER_D)), 1)
    assert found.kept == (D, OTHER_D) and found.sentences == N and found.correlations.shape == (D,)
    assert (np.diff(found.correlations) <= 0).all() and found.mean == np.mean(found.correlations)


def test_the_fewest_directions_that_hold_the_share_are_kept(states):
    shares = np.cumsum(np.linalg.svd(states - states.mean(axis=0), compute_uv=False) ** 2)
    shares /= shares[-1]
    for kept in range(1, D):
        assert decompose(states, shares[kept - 1] - 1e-6).directions.shape == (N, kept)
        assert decompose(states, shares[kept - 1] + 1e-6).directions.shape == (N, kept + 1)
    directions = decompose(states, 0.9).directions
    assert directions.T @ directions == pytest.approx(np.eye(directions.shape[1]), abs=1e-12)
    assert directions.sum(axis=0) == pytest.approx(0, abs=1e-10), "centred"


def test_a_share_of_one_keeps_the_rank_and_no_rounding(states, generator):
    assert decompose(np.hstack([states, states @ generator.standard_normal((D, 3))]), 1).directions.shape == (
        N,
        D,
    )
    tiny = states * np.where(np.arange(D) == 4, 1e-6, 1)
    assert decompose(tiny, 1).directions.shape == (N, D)


def covariance_svcca(one: np.ndarray, other: np.ndarray, variance: float) -> np.ndarray:
    """Raghu et al. by covariances, as google/svcca does: singular values of Σxx^-½ Σxy Σyy^-½ after the
    SVD.
    """
    kept = []
    for states in (one, other):
        neurons = (states - states.mean(axis=0)).T
        _, values, right = np.linalg.svd(neurons, full_matrices=False)
        share = np.cumsum(values**2) / np.sum(values**2)
        number = next(k for k in range(1, len(values) + 1) if share[k - 1] >= variance)
        kept.append(np.diag(values[:number]) @ right[:number])
    size = len(kept[0])
    sigma = np.cov(*kept)
    roots = []
    for block in (sigma[:size, :size], sigma[size:, size:]):
        values, vectors = np.linalg.eigh(block)
        roots.append(vectors @ np.diag(values**-0.5) @ vectors.T)
    return np.linalg.svd(roots[0] @ sigma[:size, size:] @ roots[1], compute_uv=False)


@pytest.mark.parametrize("variance", [0.8, 0.99])
def test_it_agrees_with_the_arithmetic_of_covariances(states, generator, variance):
    other = (
        np.tanh(states @ generator.standard_normal((D, OTHER_D)) / 9)
        + generator.standard_normal((N, OTHER_D)) / 9
    )
    found = similarity(states, other, variance)
    assert 0.05 < found.mean < 0.95
    assert found.correlations == pytest.approx(covariance_svcca(states, other, variance), abs=1e-9)


def test_one_kept_direction_gives_pearsons_correlation(generator):
    one, other = generator.standard_normal((2, N))
    assert similarity(one[:, None], other[:, None]).mean == pytest.approx(abs(np.corrcoef(one, other)[0, 1]))


def test_independent_noise_has_the_random_value_and_shared_states_more(generator):
    one, other, shared = generator.standard_normal((3, 301, 31))
    baseline = random_baseline(301, (31, 31), generator)
    assert similarity(one, other).mean == pytest.approx(baseline.mean, abs=5 * baseline.deviation)
    assert similarity(one + shared, other + shared).mean > baseline.mean + 20 * baseline.deviation


def test_the_baseline_is_that_of_these_numbers(generator):
    again = [random_baseline(61, (7, 11), np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]
    few, many, wide, half = (
        random_baseline(sentences, sizes, generator, variance, repetitions=20)
        for sentences, sizes, variance in [
            (61, (7, 11), 0.99),
            (601, (7, 11), 0.99),
            (61, (7, 31), 0.99),
            (61, (7, 11), 0.5),
        ]
    )
    assert many.mean < few.mean < wide.mean and half.mean < few.mean
    assert 0 < many.deviation < few.deviation < 0.1
    drawing = np.random.default_rng(1)
    one, other = (
        similarity(drawing.standard_normal((61, 7)), drawing.standard_normal((61, 11))).mean for _ in range(2)
    )
    two = random_baseline(61, (7, 11), np.random.default_rng(1), repetitions=2)
    assert two.mean == pytest.approx((one + other) / 2)
    assert two.deviation == pytest.approx(abs(one - other) / 2**0.5)  # of a sample of two


@pytest.mark.parametrize(
    "sentences, kept",
    [(30, (14, 15)), (41, (20, 20)), (41, (3, 17)), (41, (17, 3)), (200, (5, 61)), (500, (2, 2))],
)
def test_the_mean_of_independent_states_is_known_without_drawing_any(sentences, kept, generator):
    drawn = random_baseline(sentences, kept, generator, variance=1, repetitions=100)
    assert independent_mean(sentences, kept) == pytest.approx(drawn.mean, abs=drawn.deviation / 2)
    assert independent_mean(sentences, kept) == independent_mean(sentences, kept[::-1])


def test_the_covariance_of_independent_states_does_not_matter(generator):
    one, other = (
        generator.standard_normal((2, 401, 51)) * 0.93 ** np.arange(51) @ generator.standard_normal((51, 51))
    )
    found = similarity(one, other)
    assert max(found.kept) < 40 and found.mean == pytest.approx(independent_mean(401, found.kept), abs=0.02)
    assert found.mean < random_baseline(401, (51, 51), generator).mean - 0.05


@pytest.mark.parametrize(
    "sentences, kept, score", [(1000, 473, 0.620), (1147, 480, 0.575), (1300, 485, 0.540), (1695, 491, 0.471)]
)
def test_the_random_value_of_liu_et_al(sentences, kept, score):
    """Calibrated on Liu et al. 2021, Table 9: random vectors have around 0.57. `kept` is .99 of 512
    Gaussian dimensions.
    """
    assert independent_mean(sentences, (kept, kept)) == pytest.approx(score, abs=0.003)


def test_the_random_value_of_liu_et_al_at_full_size(generator):
    """IWSLT's N, as above; one draw."""
    found = similarity(*generator.standard_normal((2, 1147, 512)))
    assert found.mean == pytest.approx(0.575, abs=0.003)
    assert found.mean == pytest.approx(independent_mean(1147, found.kept), abs=0.003)


def test_all_pairs_share_the_decompositions(states, generator):
    decompositions = {
        language: decompose(states + generator.standard_normal((N, D))) for language in ("de", "en", "it")
    }
    pairs = svcca_pairs(decompositions)
    assert list(pairs) == [("de", "en"), ("de", "it"), ("en", "it")]
    for (one, other), found in pairs.items():
        assert (found.correlations == svcca(decompositions[one], decompositions[other]).correlations).all()
    with pytest.raises(InputError, match="two languages or more, not de"):
        svcca_pairs({"de": decompositions["de"]})


def test_too_few_sentences_are_refused(generator):
    few = generator.standard_normal((2 * D, D))
    with pytest.raises(
        InputError, match=r"14 sentences are too few .* with 7 and 7 .* more than 14, or keep a lower share"
    ):
        similarity(few, few, 1)
    assert similarity(few, few, 0.5).mean == pytest.approx(1), "the remedy"
    with pytest.raises(InputError, match="too few"):
        random_baseline(2 * D, (D, D), generator, 1)
    with pytest.raises(InputError, match="in sum fewer than the sentences"):
        independent_mean(2 * D, (D, D))
    enough = generator.standard_normal((2, 2 * D + 1, D))
    assert similarity(*enough, 1).mean < 0.95, "nothing is 1 for nothing"


def spoilt(states: np.ndarray, value: float) -> np.ndarray:
    states = states.copy()
    states[2, 1] = value
    return states


@pytest.mark.parametrize(
    "states, message",
    [
        (
            spoilt(np.ones((5, 3)), np.nan),
            "row 3 of the states, and 1 of 5 in all, has a number that is not finite",
        ),
        (spoilt(np.ones((5, 3)), np.inf), "row 3 of the states"),
        (np.full((5, 3), 0.1), "all 5 rows of the states are the same"),
        (np.ones((1, 3)), "all 1 rows"),
        (np.ones(5), r"shape \(5,\) .* N×d"),
        (np.ones((5, 3, 2)), r"shape \(5, 3, 2\)"),
        (np.ones((0, 3)), r"shape \(0, 3\)"),
    ],
)
def test_states_that_cannot_be_decomposed_are_refused(states, message):
    with pytest.raises(InputError, match=message):
        decompose(states)


@pytest.mark.parametrize("variance", [0, -0.5, 99, float("nan")])
def test_a_share_that_is_none_is_refused(states, variance):
    with pytest.raises(InputError, match=f"a share of {variance} of the variance cannot be kept"):
        decompose(states, variance)


def test_different_sentences_are_refused(states):
    with pytest.raises(InputError, match=f"of {N} and of {N - 1} sentences .* the same sentence"):
        similarity(states, states[1:])


def test_a_deviation_needs_two_repetitions(generator):
    with pytest.raises(InputError, match="1 repetitions have no deviation"):
        random_baseline(N, (D, D), generator, repetitions=1)
