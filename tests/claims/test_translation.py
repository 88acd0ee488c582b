"""What kept scores say of gains in two configs: all four systems' seeds count."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.support.scores import made_up_scores
from zsnmt.claims.kept_results import Kept
from zsnmt.claims.translation import compare, config_difference, gain, pivot_language_share, zero_shot
from zsnmt.claims.verdicts import half_width
from zsnmt.languages import ZERO_SHOT, Direction
from zsnmt.report.documents import keep_scores
from zsnmt.runs.scores import Result, Scores, Uncertainty
from zsnmt.runs.systems import System

ONE, OTHER = System("one", "zs_transformer"), System("other", "zs_transformer")
BLEU = {  # by config and system, one value for each seed
    ("easy", "one"): (20.0, 22.0, 24.0),
    ("easy", "other"): (10.0, 19.0),
    ("hard", "one"): (40.0, 41.0),
    ("hard", "other"): (11.0, 12.0),
}


@pytest.fixture
def kept(tmp_path):
    for (config, system), values in BLEU.items():
        for seed, bleu in enumerate(values, 1):
            scores = replace(made_up_scores(system, seed, zero_shot=bleu), config=config)
            keep_scores(scores, tmp_path)
    return Kept(tmp_path)


def test_a_gain_in_one_config_minus_that_in_another_has_the_interval_of_four_means(kept):
    (found,) = config_difference([("easy", "hard")], zero_shot(ONE), zero_shot(OTHER))(kept)
    mean = (40.5 - 11.5) - (22.0 - 14.5)
    assert found.measured.mean == pytest.approx(mean) and found.config == "easy → hard"
    assert len(found.deviations) == 4 and found.seeds in ("1, 2; 1, 2, 3", "1, 2, 3; 1, 2")
    noise = half_width([*BLEU.values()])
    assert found.measured.interval == pytest.approx((mean - noise, mean + noise))
    assert found.fewest == 2 and found.several


def test_without_another_system_it_is_the_difference_of_two_means(kept):
    (found,) = config_difference([("easy", "hard")], zero_shot(ONE))(kept)
    assert found.measured.mean == pytest.approx(40.5 - 22.0) and len(found.deviations) == 2
    assert config_difference([("easy", "gone")], zero_shot(ONE))(kept) == []


def test_a_difference_of_two_systems_is_over_the_seeds_that_both_have(kept):
    found = {each.config: each for each in gain(zero_shot(ONE), zero_shot(OTHER))(kept)}
    assert found["easy"].measured.mean == pytest.approx(21.0 - 14.5) and found["easy"].seeds == "1, 2"
    assert found["hard"].measured.mean == pytest.approx(40.5 - 11.5)


def test_of_some_directions_the_interval_is_made_of_that_of_each():
    def side(system: str, bleu: float, noise: float) -> Scores:
        scores = made_up_scores(system, 1, zero_shot=bleu)
        return replace(scores, results=[with_interval(result, noise) for result in scores.results])

    def with_interval(result: Result, noise: float) -> Result:
        bleu = result.figures["bleu"]
        return replace(result, uncertainty=Uncertainty({"bleu": (bleu - noise, bleu + noise)}))

    places, some = (zero_shot(ONE), zero_shot(OTHER)), [Direction("de", "fr")]
    systems = {"one": [side("one", 20.0, 3.0)], "other": [side("other", 15.0, 4.0)]}
    (found,) = compare("made_up", systems, places, directions=some)
    assert found.measured.interval == pytest.approx((5.0 - 5.0, 5.0 + 5.0))  # 3² + 4² = 5²
    without = {"one": systems["one"], "other": [made_up_scores("other", 1, zero_shot=15.0)]}
    (found,) = compare("made_up", without, places, directions=some)
    assert found.measured.interval is None


def test_outputs_whose_languages_were_not_counted_are_not_taken_for_none_in_the_pivots():
    def run(seed: int, *identified: dict[str, float]) -> Scores:
        scores, shares = made_up_scores("one", seed, zero_shot=9.0), iter(identified)
        counted = [
            replace(result, identified=next(shares))
            if result in scores.select(ZERO_SHOT).values()
            else result
            for result in scores.results
        ]
        return replace(scores, results=counted)

    def shares(*runs: Scores) -> list[float]:
        kept = SimpleNamespace(scores={"made_up": {"one": [*runs]}})
        return [effect.measured.mean for effect in pivot_language_share(ONE)(kept)]

    counted = run(1, {"en": 0.5, "fr": 0.5}, {"de": 1.0})
    assert shares(counted) == [0.25]
    assert shares(counted, run(2, {"en": 1.0}, {})) == shares(made_up_scores("one", 1, 9.0)) == []
