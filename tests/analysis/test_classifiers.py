"""Linear probes of states: the published procedure and the exact fit."""

import logging

import numpy as np
import pytest
import torch

from zsnmt.analysis import classifiers
from zsnmt.analysis.classifiers import (
    fit_as_published,
    fit_to_convergence,
    initial_layer,
    noam,
    shuffled_batches,
)
from zsnmt.errors import InputError

N, D, CLASSES = 240, 6, np.array([-3, 4, 9])


def published(states, labels, rows=None, seed=1):
    return fit_as_published(states, labels, rows, epochs=20, batch_size=16, warm_up=40, seed=seed)


FITS = pytest.mark.parametrize("fit", [published, fit_to_convergence], ids=["published", "exact"])


@pytest.fixture
def labels() -> np.ndarray:
    return np.random.default_rng(1).choice(CLASSES, N, p=[0.2, 0.5, 0.3])


@pytest.fixture
def states(labels) -> np.ndarray:
    """Noise that overlaps the classes, in dimensions of different mean and deviation."""
    rng = np.random.default_rng(2)
    means = rng.standard_normal((3, D))[np.searchsorted(CLASSES, labels)]
    return ((means + rng.standard_normal((N, D))) * np.linspace(0.5, 1.5, D) + np.linspace(-1, 1, D)).astype(
        np.float32
    )


def share_right(probe, states, labels) -> float:
    return (probe.predict(states) == labels).mean()


# Both fits


@FITS
def test_a_label_that_is_in_the_states_linearly_is_found(fit, states, labels):
    told = np.hstack([states, 8 * (labels[:, None] == CLASSES)])
    assert share_right(fit(told[: N // 2], labels[: N // 2]), told[N // 2 :], labels[N // 2 :]) == 1


@FITS
def test_random_states_tell_little_more_than_the_commonest_class(fit, labels):
    noise = np.random.default_rng(3).standard_normal((2 * N, D), dtype=np.float32)
    probe = fit(noise[:N], labels)
    assert share_right(probe, noise[N:], labels) == pytest.approx((labels == 4).mean(), abs=0.08)


@FITS
def test_the_fit_is_repeatable_and_reads_a_memory_map_like_an_array(fit, states, labels, tmp_path):
    np.save(tmp_path / "states.npy", states)
    mapped = np.load(tmp_path / "states.npy", mmap_mode="r")
    first, *others = fit(states, labels), fit(states, labels), fit(mapped, labels)
    for probe in others:
        assert np.array_equal(first.weight, probe.weight) and np.array_equal(first.bias, probe.bias)
        assert np.array_equal(first.predict(states), probe.predict(mapped))


@FITS
def test_only_the_given_rows_are_fitted(fit, states, labels):
    rows = np.flatnonzero(np.arange(N) % 3 != 1)
    spoilt = np.where(np.isin(np.arange(N), rows)[:, None], states, np.nan)
    probe, alone = fit(spoilt, labels, rows), fit(states[rows], labels[rows])
    assert np.array_equal(probe.weight, alone.weight)
    assert np.array_equal(probe.predict(spoilt, rows), alone.predict(states)[rows])
    assert probe.classes.tolist() == CLASSES.tolist()
    assert probe.counts.tolist() == [(labels[rows] == label).sum() for label in CLASSES]


@FITS
def test_the_size_of_blocks_does_not_matter(fit, states, labels, monkeypatch):
    whole = fit(states, labels)
    predicted = whole.predict(states)
    monkeypatch.setattr(classifiers, "MOST_CELLS_AT_ONCE", 5 * D)
    parts = fit(states, labels)
    assert np.allclose(whole.weight, parts.weight, atol=1e-4) and np.allclose(
        whole.bias, parts.bias, atol=1e-4
    )
    assert np.array_equal(whole.predict(states), predicted)
    assert whole.predict(states, np.array([], int)).tolist() == []


@FITS
def test_half_precision_is_read_as_single(fit, states, labels):
    half = states.astype(np.float16)
    assert np.array_equal(fit(half, labels).weight, fit(half.astype(np.float32), labels).weight)


@FITS
def test_the_names_of_classes_do_not_matter(fit, states, labels):
    renamed = 100 + 7 * labels
    assert np.array_equal(fit(states, renamed).predict(states), 100 + 7 * fit(states, labels).predict(states))


def test_the_order_of_classes_does_not_matter(states, labels):
    """To the exact fit; the published one starts elsewhere and ends nearby."""
    probe, turned = fit_to_convergence(states, labels), fit_to_convergence(states, -labels)
    assert np.array_equal(probe.predict(states), -turned.predict(states))
    assert np.allclose(probe.weight, turned.weight[::-1], atol=0.01)
    probe, turned = published(states, labels), published(states, -labels)
    assert (probe.predict(states) == -turned.predict(states)).mean() > 0.95


def test_both_fits_agree(states, labels):
    assert (
        published(states, labels).predict(states) == fit_to_convergence(states, labels).predict(states)
    ).mean() > 0.95


# The published procedure


def test_the_learning_rate_rises_over_the_warm_up_and_falls_with_the_square_root():
    for update in range(1, 401):
        assert noam(update, 512, 400) == pytest.approx(2 / np.sqrt(512) * update / 400 / np.sqrt(400))
    for update in range(400, 2000, 7):
        assert noam(update, 512, 400) == pytest.approx(2 / np.sqrt(512) / np.sqrt(update))
    assert max(noam(update, 512, 400) for update in range(1, 2000)) == pytest.approx(2 / np.sqrt(512 * 400))


def test_the_layer_starts_uniform_with_bias_0():
    layer = initial_layer(64, 500, torch.Generator().manual_seed(1))
    assert layer.weight.abs().max() <= 1 / 8 and not layer.bias.any()
    assert layer.weight.std().item() == pytest.approx(1 / 8 / np.sqrt(3), rel=0.02)
    assert layer.weight.mean().item() == pytest.approx(0, abs=0.002)


def test_an_epoch_has_each_row_once_in_another_order():
    batches = list(shuffled_batches(10, 2, 4, torch.Generator().manual_seed(1)))
    assert [len(batch) for batch in batches] == [4, 4, 2] * 2
    epochs = [np.concatenate(batches[:3]), np.concatenate(batches[3:])]
    assert all(sorted(epoch) == list(range(10)) for epoch in epochs)
    assert not np.array_equal(*epochs)


def test_the_fit_is_adam_on_the_softmax_cross_entropy(states, labels):
    """Restated with numpy, all rows in a batch."""
    layer = initial_layer(D, 3, torch.Generator().manual_seed(5))
    parameters = np.hstack([layer.weight.detach().numpy(), np.zeros((3, 1))])  # C×(d+1), the bias last
    inputs = np.hstack([states, np.ones((N, 1))])
    first = second = 0
    for update in range(1, 8):
        scores = np.exp(inputs @ parameters.T)
        gradient = (scores / scores.sum(1, keepdims=True) - (labels[:, None] == CLASSES)).T @ inputs / N
        first, second = 0.9 * first + 0.1 * gradient, 0.98 * second + 0.02 * gradient**2
        step = first / (1 - 0.9**update) / (np.sqrt(second / (1 - 0.98**update)) + 1e-9)
        parameters -= noam(update, D, 5) * step
    probe = fit_as_published(states, labels, epochs=7, warm_up=5, seed=5)
    assert np.allclose(probe.weight, parameters[:, :-1], atol=1e-4)
    assert np.allclose(probe.bias, parameters[:, -1], atol=1e-4)


def test_the_seed_decides_and_the_global_generator_is_left_alone(states, labels):
    before = torch.get_rng_state()
    assert not np.array_equal(
        published(states, labels, seed=1).weight, published(states, labels, seed=2).weight
    )
    assert torch.equal(torch.get_rng_state(), before)


def test_too_few_updates_are_warned_of(states, labels, caplog):
    with caplog.at_level(logging.WARNING):
        published(states, labels)
        assert not caplog.messages
        fit_as_published(states, labels)
    assert len(caplog.messages) == 1
    assert (
        "5 updates end within the warm-up of 400" in caplog.text
        and "smaller batch size than 24568" in caplog.text
    )


def test_of_whole_sentences_an_epoch_has_no_more_updates_than_there_are(states, labels, caplog):
    """Batches of one row would be 1,200 updates, but 12 sentences are 60."""
    sentences = np.repeat(np.arange(12), len(labels) // 12)
    fit_as_published(states, labels, batch_size=1, sentences=sentences)
    assert "60 updates end within the warm-up of 400" in caplog.text and "take more text" in caplog.text


# The exact fit


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l2", [1.0, 30.0])
def test_the_exact_fit_is_where_the_gradient_vanishes(states, labels, classes, l2):
    if classes == 2:
        labels = np.where(labels == 9, 4, labels)
    probe = fit_to_convergence(states, labels, l2=l2)
    mean, deviation = states.mean(0), states.std(0)
    weight, bias = probe.weight * deviation, probe.bias + probe.weight @ mean  # of standardised states
    standardised = (states - mean) / deviation
    scores = np.exp(standardised @ weight.T + bias)
    error = scores / scores.sum(1, keepdims=True) - (labels[:, None] == probe.classes)  # N×C
    assert np.abs(error.sum(0)).max() / N < 1e-3
    assert np.abs(error.T @ standardised + l2 * weight).max() / N < 1e-3
    assert np.abs(error.T @ standardised).max() / N > 2e-3, "the penalty matters"


def test_the_exact_fit_does_not_depend_on_scale_or_origin(states, labels):
    moved = states * np.array([100, 1, 0.01, -3, 1, 1], np.float32) + np.arange(D, dtype=np.float32)
    constant = np.hstack([moved, np.full((N, 1), 3, np.float32)])
    expected = fit_to_convergence(states, labels).predict(states)
    assert (fit_to_convergence(constant, labels).predict(constant) == expected).mean() > 0.99


def test_a_fit_that_stops_early_is_warned_of(states, labels, caplog, recwarn, monkeypatch):
    fit_to_convergence(states, labels)
    assert not caplog.messages
    monkeypatch.setattr(classifiers, "MOST_ITERATIONS", 2)
    fit_to_convergence(states, labels, l2=0.5)
    assert len(caplog.messages) == 1 and not [str(warning.message) for warning in recwarn]
    assert "not the exact one (lbfgs failed to converge after 2 iteration(s)" in caplog.text
    assert caplog.messages[0].endswith("take a larger l2 than 0.5")


def test_too_many_classes_for_an_exact_fit_are_refused(states, labels, monkeypatch):
    monkeypatch.setattr(classifiers, "MOST_CELLS_OF_EXACT_FIT", 3 * 200)
    with pytest.raises(
        InputError, match="240 rows × 3 classes are too many.* at most 200 rows, or the published"
    ):
        fit_to_convergence(states, labels)
    fit_to_convergence(states, labels, np.arange(200))


# Mistakes


@FITS
def test_states_and_labels_that_cannot_be_fitted_are_refused(fit, states, labels):
    broken = states.copy()
    broken[17, 2] = np.inf
    for bad_states, bad_labels, message in [
        (broken, labels, "state of row 17 is not finite"),
        (states, labels[1:], r"shapes \(240, 6\) and \(239,\)"),
        (states[:, 0], labels, r"N×d states.* shapes \(240,\)"),
        (states, labels / 2, "integer labels.* type float64"),
        (states, np.full(N, 4), r"240 training rows have 1 class\(es\)"),
    ]:
        with pytest.raises(InputError, match=message):
            fit(bad_states, bad_labels)
    with pytest.raises(InputError, match="0 training rows"):
        fit(states, labels, np.array([], int))
    with pytest.raises(InputError, match=r"reads states of N×6, not of shape \(240, 5\)"):
        fit(states, labels).predict(states[:, 1:])


def test_settings_that_fit_nothing_are_refused(states, labels):
    for l2 in (0, np.nan):
        with pytest.raises(InputError, match=f"l2 is {l2}, but only a positive"):
            fit_to_convergence(states, labels, l2=l2)
    for settings in ({"epochs": 0}, {"batch_size": 0}, {"warm_up": 0}):
        with pytest.raises(InputError, match="each must be at least 1"):
            fit_as_published(states, labels, **settings)
