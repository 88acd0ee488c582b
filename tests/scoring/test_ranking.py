"""Spearman's correlation and its resamples."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from zsnmt.scoring.bootstrap import draws
from zsnmt.scoring.ranking import resampled_spearman, spearman

FIGURES, QUALITIES = np.random.default_rng(1).integers(0, 9, size=(2, 40)).astype(float)  # with ties


def test_it_is_that_of_scipy():
    assert spearman(FIGURES, QUALITIES) == pytest.approx(spearmanr(FIGURES, QUALITIES).statistic)
    assert spearman(FIGURES, FIGURES**3) == pytest.approx(1) == -spearman(FIGURES, -FIGURES)


def test_a_figure_that_ranks_nothing_has_none():
    assert spearman([0.5] * 40, QUALITIES) == 0 == spearman(QUALITIES, [1.0] * 40)
    assert not resampled_spearman([0.5] * 40, QUALITIES, 5).any()


def test_resamples_are_of_the_lines_that_all_scores_draw():
    found = resampled_spearman(FIGURES, QUALITIES, 7)
    for counts, correlation in zip(draws(40, 7).astype(int), found, strict=True):
        chosen = np.repeat(np.arange(40), counts)
        assert correlation == pytest.approx(spearmanr(FIGURES[chosen], QUALITIES[chosen]).statistic)
