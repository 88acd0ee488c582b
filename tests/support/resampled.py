"""Score files with bootstrap resamples, for tests of tables: noise around the figures of no real run."""

import numpy as np

from zsnmt.evaluation.evaluate import means
from zsnmt.scoring.bootstrap import SAMPLES, SIGNATURE
from zsnmt.scoring.metrics import RANGES, uncertainty


def with_resamples(scores: dict) -> dict:
    """The scores as if each direction had been resampled; what the draws have in common is the same in all runs."""
    shared, own = np.random.default_rng(1), np.random.default_rng([scores["seed"], *scores["system"].encode()])
    directions = [
        {**result, **uncertainty({figure: resampled(result[figure], top, shared, own) for figure, top in RANGES.items()})}
        for result in scores["directions"]
    ]
    signatures = {**scores["signatures"], "intervals": SIGNATURE}
    return {**scores, "signatures": signatures, "test_set": "0123456789abcdef", "directions": directions, **means(directions)}


def resampled(score: float, top: float, shared: np.random.Generator, own: np.random.Generator) -> np.ndarray:
    """Draws around a score between 0 and `top`."""
    return np.clip(score + top * (shared.normal(0, 0.02, SAMPLES) + own.normal(0, 0.01, SAMPLES)), 0, top)
