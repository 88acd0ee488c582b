"""Tables of position encodings: the published formula, curves that are rows of the table, and what is no
table.
"""

import numpy as np
import pytest

from zsnmt.analysis.position_encodings import (
    check_encodings,
    curves,
    gaussian_control,
    peak_share,
    principal_coordinates,
    sinusoids,
)
from zsnmt.errors import InputError

P, D = 41, 6


def test_sinusoids_are_the_formula():
    table = sinusoids(P, D)
    for position in range(P):
        for pair in range(D // 2):
            angle = position / 10000 ** (2 * pair / D)
            assert table[position, 2 * pair] == pytest.approx(np.sin(angle))
            assert table[position, 2 * pair + 1] == pytest.approx(np.cos(angle))


def test_the_control_has_the_shape_and_follows_the_seed():
    table = sinusoids(P, D)
    assert gaussian_control(table, 3).shape == (P, D)
    assert (gaussian_control(table, 3) == gaussian_control(2 * table, 3)).all()
    assert (gaussian_control(table, 3) != gaussian_control(table, 4)).all()


def test_curves_are_dimensions_over_the_first_places():
    table = gaussian_control(sinusoids(P, D))
    found = curves(table, (0, 4), 32)
    assert found.shape == (2, 32) and (found[1] == [row[4] for row in table[:32]]).all()


@pytest.mark.parametrize("places, offsets", [(8, range(-4, 4)), (7, range(-3, 4)), (P, range(-20, 21))])
def test_centred_curves_are_about_offset_zero(places, offsets):
    table = np.array([[offset, 100 + offset] for offset in range(-20, 21)])
    assert curves(table, (1,), places, centred=True).tolist() == [[100 + offset for offset in offsets]]


def test_the_peak_tells_sines_from_noise():
    places = np.arange(32)
    sines = np.stack([np.sin(2 * np.pi * frequency / 32 * places + 1) for frequency in (1, 3, 9)])
    between = np.stack(
        [np.sin(2 * np.pi * frequency / 32 * places + 1) for frequency in (0.4, 0.8, 1.5, 3.5, 8.5)]
    )
    noise = np.random.default_rng(5).standard_normal((999, 32))
    assert peak_share(5 * sines - 3) == pytest.approx(1)
    assert (peak_share(between) > 0.4).all() and np.isnan(peak_share(np.ones(32)))
    assert 0.18 < peak_share(noise).mean() < 0.24 and peak_share(noise).min() > 1 / 16


@pytest.mark.parametrize(
    "table, message",
    [
        (
            np.ones(3),
            r"position encodings of shape \(3,\) cannot be analysed; give one vector a position, P×d",
        ),
        (np.ones((0, 3)), r"of shape \(0, 3\)"),
        (
            [[1, 2], [np.inf, 1], [np.nan, 1]],
            "row 2 of the position encodings, and 2 of 3 in all, has a number that is not finite",
        ),
        (
            [[1, 2], [3, 4], [0, 0]],
            "row 3 of the position encodings, and 1 of 3 in all, is zero; give the rows of positions only",
        ),
    ],
)
def test_what_is_no_table(table, message):
    with pytest.raises(InputError, match=message):
        check_encodings(table)


@pytest.mark.parametrize(
    "options, message",
    [
        (
            {"dimensions": (0, 6)},
            r"no curves of the dimensions \[0, 6\] in encodings of 6; give numbers from 0 to 5",
        ),
        ({"dimensions": ()}, r"no curves of the dimensions \[\]"),
        ({"dimensions": (0,), "places": P + 1}, "no curves over 42 places in 41 encodings; give 1 to 41"),
        ({"dimensions": (0,), "places": 0}, "no curves over 0 places"),
    ],
)
def test_curves_that_are_not_there(options, message):
    with pytest.raises(InputError, match=message):
        curves(sinusoids(P, D), **options)


def test_offsets_without_a_middle():
    with pytest.raises(InputError, match="40 offsets have no middle; give a table of the offsets −m to m"):
        curves(sinusoids(P - 1, D), (0,), centred=True)


@pytest.mark.parametrize("shape", [(0, 4), (5, 3), (5, 0)])
def test_sinusoids_come_in_pairs(shape):
    with pytest.raises(InputError, match="give at least one, of an even number of dimensions"):
        sinusoids(*shape)


def test_principal_directions_hold_the_most_and_turn_as_the_table_does():
    table = np.random.default_rng(5).standard_normal((9, 4)) * [1, 5, 2, 3]
    found, kept = principal_coordinates(table, 2)
    _, sizes, _ = np.linalg.svd(table)
    assert found.shape == (9, 2) and kept == pytest.approx((sizes[:2] ** 2).sum() / (table**2).sum())
    assert (found**2).sum(axis=0) == pytest.approx(sizes[:2] ** 2)
    turned, _ = principal_coordinates(
        table @ np.linalg.qr(np.random.default_rng(6).standard_normal((4, 4)))[0], 2
    )
    assert turned @ turned.T == pytest.approx(found @ found.T)
    whole, everything = principal_coordinates(table, 4)
    assert (whole == table).all() and everything == 1
    with pytest.raises(InputError, match="0 directions of position encodings are too few; give 1 or more"):
        principal_coordinates(table, 0)
