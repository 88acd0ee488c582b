"""Compositionality: about 0 for sinusoids, the arithmetic of independent rows for noise, and two chunks
that differ.
"""

import numpy as np
import pytest
from scipy.stats import ortho_group

from zsnmt.analysis.position_encodings import gaussian_control, sinusoids
from zsnmt.analysis.procrustes import compositionality, default_chunk_sizes, draw_chunks, wilcoxon
from zsnmt.errors import InputError

P, D = 61, 4
OFFSETS = (1, 5, 7)


@pytest.fixture
def noise() -> np.ndarray:
    return gaussian_control(np.ones((P, D)), 5)


def naive_losses(
    encodings: np.ndarray, offset: int, sizes: tuple[int, int], runs: int, seed: int
) -> list[float]:
    """The definition, a position at a time; the map is the polar factor of Σ p_i p_{i+k}ᵀ, by its own
    formula.
    """
    losses = []
    for size, start, other in draw_chunks(len(encodings) - offset, sizes, runs, [seed, offset]):
        product = sum(np.outer(encodings[i], encodings[i + offset]) for i in range(start, start + size))
        values, vectors = np.linalg.eigh(product.T @ product)
        turn = product @ vectors @ np.diag(values**-0.5) @ vectors.T
        errors = sum(
            np.sum((encodings[i] - turn @ encodings[i + offset]) ** 2) for i in range(other, other + size)
        )
        losses.append(errors / sum(encodings[i] @ encodings[i] for i in range(other, other + size)))
    return losses


def test_it_equals_the_definition(noise):
    found = compositionality(noise, OFFSETS, runs=6, seed=3, chunk_sizes=(9, 14))
    assert found.offsets == OFFSETS and found.losses.shape == (3, 6) and found.chunk_sizes == (9, 14)
    for offset, losses in zip(OFFSETS, found.losses):
        assert losses == pytest.approx(naive_losses(noise, offset, (9, 14), 6, 3))
    assert found.mean == pytest.approx([sum(losses) / 6 for losses in found.losses])
    sizes = [
        [
            np.sum(noise[other : other + size] ** 2)
            for size, _, other in draw_chunks(P - k, (9, 14), 6, [3, k])
        ]
        for k in OFFSETS
    ]
    assert found.undivided == pytest.approx(found.losses * sizes)  # the paper's own
    assert found.median == pytest.approx([sum(sorted(losses)[2:4]) / 2 for losses in found.losses])


@pytest.mark.slow
def test_sinusoids_shift_by_a_rotation_and_noise_does_not():
    table = sinusoids(512, 64)  # the study's
    found, control = (
        compositionality(rows, (1, 8, 32), runs=20) for rows in (table, gaussian_control(table))
    )
    assert found.chunk_sizes == (128, 256)
    assert np.median(found.losses) < 1e-2 and np.mean(found.losses) < 0.5
    assert control.losses.min() > 0.7 and wilcoxon(found.losses, control.losses) < 1e-9


def test_short_chunks_do_not_determine_the_map_even_of_sinusoids():
    short = compositionality(sinusoids(512, 64), (1, 8, 32), runs=20, chunk_sizes=(8, 8))
    assert np.median(short.losses) > 0.5


def test_noise_has_the_loss_of_independent_rows():
    """2 less 2·(8/3π)·√(d/C) for rows that the map was fitted on: the mean singular value of a square
    Gaussian is 8√d/3π.
    """
    rows, size, length, runs = 8, 64, 700, 200
    table = np.random.default_rng(5).standard_normal((length, rows))
    found = compositionality(table, (3,), runs, seed=2, chunk_sizes=(size, size))
    _, start, other = draw_chunks(length - 3, (size, size), runs, [2, 3]).T
    shared = np.maximum(0, size - np.abs(start - other)) / size
    expected = 2 - 2 * shared * 8 / (3 * np.pi) * np.sqrt(rows / size)
    assert np.mean(found.losses) == pytest.approx(expected.mean(), abs=0.03)
    assert found.losses[0][shared == 0].mean() == pytest.approx(2, abs=0.03)
    assert np.corrcoef(found.losses[0], expected)[0, 1] > 0.3


def test_a_turning_table_has_no_loss_and_equal_lengths_at_most_four():
    turn = ortho_group(D, seed=np.random.default_rng(5)).rvs()
    table = np.array([np.linalg.matrix_power(turn, power) @ np.ones(D) for power in range(P)])
    assert compositionality(table, OFFSETS, 9, chunk_sizes=(8, 16)).losses == pytest.approx(0, abs=1e-12)
    unit = gaussian_control(table)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    assert compositionality(unit, OFFSETS, 99, chunk_sizes=(1, 2)).losses.max() <= 4 + 1e-12


def test_rotation_and_scale_do_not_matter(noise):
    turn = ortho_group(D, seed=np.random.default_rng(5)).rvs()
    found, turned = (compositionality(rows, OFFSETS, 9).losses for rows in (noise, 1e-3 * noise @ turn))
    assert turned == pytest.approx(found)
    assert not np.allclose(compositionality(noise + 1, OFFSETS, 9).losses, found), (
        "but a shift does: nothing is centred"
    )


def test_chunks_follow_seed_and_offset_alone(noise):
    found = compositionality(noise, OFFSETS, 9, seed=1, chunk_sizes=(8, 16))
    assert (compositionality(noise, OFFSETS, 9, seed=1, chunk_sizes=(8, 16)).losses == found.losses).all()
    assert (
        compositionality(noise, OFFSETS[1:], 9, seed=1, chunk_sizes=(8, 16)).losses == found.losses[1:]
    ).all()
    assert (compositionality(noise, OFFSETS, 9, seed=2, chunk_sizes=(8, 16)).losses != found.losses).any()


@pytest.mark.parametrize("room, sizes", [(20, (2, 19)), (3, (1, 2)), (480, (128, 256))])
def test_chunks_are_inside_and_two(room, sizes):
    size, start, other = draw_chunks(room, sizes, 500, 7).T
    assert (start != other).all() and min(start.min(), other.min()) >= 0
    assert ((start + size).max(), (other + size).max()) <= (room, room)
    assert size.min() >= sizes[0] and size.max() <= sizes[1]
    if room < 100:
        assert set(size) == set(range(sizes[0], sizes[1] + 1)) and {0, 1} <= set(start) & set(other)


@pytest.mark.parametrize(
    "shape, sizes",
    [
        ((512, 64, 32), (128, 256)),
        ((128, 64, 32), (48, 64)),
        ((512, 768, 32), (240, 320)),
        ((36, 64, 32), (2, 2)),
    ],
)
def test_the_sizes_of_chunks(shape, sizes):
    assert default_chunk_sizes(*shape) == sizes
    assert np.isfinite(
        compositionality(np.random.default_rng(5).standard_normal(shape[:2]), (shape[2],), runs=1).losses
    ).all()


@pytest.mark.parametrize(
    "options, message",
    [
        (
            {"offsets": (1, 58)},
            "61 position encodings are too few for an offset of 58; give at least 62, or lower offsets",
        ),
        (
            {"offsets": ()},
            r"125 runs over the offsets \[\] are not possible; give one run or more, and offsets from 1 on",
        ),
        ({"offsets": (0, 1)}, r"over the offsets \[0, 1\]"),
        ({"offsets": (1,), "runs": 0}, "0 runs over"),
        (
            {"chunk_sizes": (8, 29)},
            "chunks of 8 to 29 positions are not possible among 61 shifted by up to 32; give sizes from 1 "
            "to 28",
        ),
        ({"chunk_sizes": (9, 8)}, "chunks of 9 to 8 positions are not possible"),
        ({"chunk_sizes": (0, 8)}, "chunks of 0 to 8 positions are not possible"),
    ],
)
def test_what_a_table_does_not_allow(noise, options, message):
    with pytest.raises(InputError, match=message):
        compositionality(noise, **options)


def test_a_row_of_zeros_is_padding(noise):
    noise[0] = 0
    with pytest.raises(InputError, match="row 1 of the position encodings.*none of padding"):
        compositionality(noise)


def test_the_signed_ranks():
    one = np.arange(1.0, 13).reshape(3, 4)
    assert wilcoxon(one, one + np.arange(1, 13).reshape(3, 4)) == pytest.approx(2 / 2**12), (
        "all twelve signs the same"
    )
    assert wilcoxon(one, 2 * one) == wilcoxon(2 * one, one)
    generator = np.random.default_rng(5)
    assert wilcoxon(*generator.standard_normal((2, 200))) > 0.05


@pytest.mark.parametrize(
    "one, other, message",
    [
        (np.ones((2, 3)), np.ones((3, 2)), r"losses of shape \(2, 3\) and \(3, 2\) do not match"),
        ([], [], "do not match"),
        ([1, np.nan], [1, 2], "losses that are not finite have no rank"),
        ([1, 2], [1, 2], "the losses of both tables are the same"),
    ],
)
def test_losses_that_are_no_pairs(one, other, message):
    with pytest.raises(InputError, match=message):
        wilcoxon(one, other)


def test_encodings_that_overflow_are_refused():
    with pytest.raises(InputError, match="too large to be multiplied"):
        compositionality(np.random.default_rng(1).standard_normal((64, 8)) * 1e300)
