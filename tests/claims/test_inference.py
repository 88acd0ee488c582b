"""The claim on XNLI, from made-up accuracies."""

import pytest

from tests.masked_lm.report.test_xnli import ACCURACY, write_run
from zsnmt.claims.kept_results import Kept
from zsnmt.claims.papers import CLAIMS
from zsnmt.claims.table import Outcome
from zsnmt.claims.verdicts import HOLDS, UNDECIDED
from zsnmt.masked_lm.report.kept_inference import keep_inference

(CLAIM,) = (claim for claim in CLAIMS if claim.name == "R11")


def verdict(kept: Kept) -> str:
    return Outcome(CLAIM, CLAIM.effects(kept)).verdict


def test_tupe_is_compared_with_sinusoidal_and_absolute_positions_alone_by_their_common_seeds(tmp_path):
    for system, seed in (*ACCURACY, ("sinusoidal", 0)):
        keep_inference(write_run(tmp_path, system, seed), tmp_path / "kept")
    relative = write_run(tmp_path, "relative_key", 0, accuracy={"en": 0.99, "de": 0.1, "hi": 0.1})
    keep_inference(relative, tmp_path / "kept")
    kept = Kept(tmp_path / "kept")
    english, others = CLAIM.effects(kept)
    assert english.seeds == others.seeds == "0"
    assert english.measured.mean == pytest.approx(0.83 - (0.81 + 0.5) / 2)
    assert others.measured.mean == pytest.approx((0.64 + 0.55) / 2 - (0.655 + 0.35) / 2)
    assert verdict(kept) == UNDECIDED  # one seed has no interval


def test_the_claim_holds_where_tupe_is_ahead_in_the_first_language_alone(tmp_path):
    for seed in (0, 1, 2):
        for system, accuracy in (
            ("learned", (0.7, 0.6, 0.6)),
            ("sinusoidal", (0.71, 0.58, 0.6)),
            ("tupe_absolute", (0.8 + seed / 100, 0.5, 0.5 + seed / 100)),
        ):
            run = write_run(tmp_path, system, seed, accuracy=dict(zip(("en", "de", "hi"), accuracy)))
            keep_inference(run, tmp_path / "kept")
    kept = Kept(tmp_path / "kept")
    assert verdict(kept) == HOLDS
    assert [(effect.clause, effect.part) for effect in CLAIM.effects(kept)] == [
        ("in the language of fine-tuning", "en"),
        ("in the others", "de, hi"),
    ]
