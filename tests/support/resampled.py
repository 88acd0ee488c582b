"""Scores with bootstrap resamples, for tests of tables: noise around the figures of no real run."""

from dataclasses import replace

import numpy as np

from zsnmt.evaluation.scorer import means
from zsnmt.runs.scores import Result, Scores
from zsnmt.scoring.bootstrap import SAMPLES, signature
from zsnmt.scoring.figures import ranges
from zsnmt.scoring.metrics import uncertainty


def with_resamples(scores: Scores) -> Scores:
    """The scores as if each direction had been resampled; what the draws have in common is the same in all
    runs.
    """
    shared, own = np.random.default_rng(1), np.random.default_rng([scores.seed, *scores.system.encode()])
    results = [
        replace(
            result,
            uncertainty=uncertainty(
                {
                    figure: resampled(result.figures[figure], top, shared, own)
                    for figure, top in ranges().items()
                }
            ),
        )
        for result in scores.results
    ]
    signatures = {**scores.signatures, "intervals": signature()}
    return replace(
        scores, signatures=signatures, test_set="0123456789abcdef", results=results, means=means(results)
    )


def resampled(score: float, top: float, shared: np.random.Generator, own: np.random.Generator) -> np.ndarray:
    """Draws around a score between 0 and `top`."""
    return np.clip(score + top * (shared.normal(0, 0.02, SAMPLES) + own.normal(0, 0.01, SAMPLES)), 0, top)


def without_resamples(results: list[Result]) -> list[Result]:
    """The results as the project keeps them."""
    return [replace(result, uncertainty=result.uncertainty._replace(resampled={})) for result in results]
