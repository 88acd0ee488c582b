"""What kept scores say of gains in two configs: all four systems' seeds count."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.support.scores import all_changed, made_up_scores
from zsnmt.claims.kept_results import Kept
from zsnmt.claims.translation import (
    compare,
    config_difference,
    gain,
    label_as_part,
    loss_difference,
    pivot_language_share,
    zero_shot,
)
from zsnmt.claims.verdicts import at_least, half_width
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


@pytest.mark.parametrize("best, learned", [(9.9, False), (10.0, True)])
def test_a_config_of_which_no_run_translates_supervised_directions_says_nothing(tmp_path, best, learned):
    for system, bleu in (("one", 2.0), ("other", best)):
        keep_scores(all_changed(made_up_scores(system, 1, zero_shot=30.0), bleu=bleu), tmp_path)
    assert ([*Kept(tmp_path).scores] == ["made_up"]) == learned


def of_config(**systems: list[Scores]) -> SimpleNamespace:
    """What is kept of one config."""
    return SimpleNamespace(scores={"made_up": systems})


def trained(system: str, seed: int = 1, *, loss: float = 5.0, best: int = 3, updates: int = 400) -> Scores:
    """Scores of a training of four epochs."""
    said = f"4 epochs, {updates} updates, best validation loss {loss} bits a token in epoch {best}"
    return replace(made_up_scores(system, seed, zero_shot=9.0), training=said)


def test_systems_with_three_seeds_in_common_are_compared_seed_by_seed():
    """What a seed does to both is no noise of their difference."""
    gains = {1: 5.0, 2: 6.0, 3: 7.0}
    one = [made_up_scores("one", seed, zero_shot=10 * seed + gained) for seed, gained in gains.items()]
    other = [made_up_scores("other", seed, zero_shot=10 * seed) for seed in gains]
    (found,) = gain(zero_shot(ONE), zero_shot(OTHER))(of_config(one=one, other=other))
    noise = half_width([[*gains.values()]])
    assert found.measured.interval == pytest.approx((6.0 - noise, 6.0 + noise))


@pytest.mark.parametrize("best, unfinished", [((3, 3), False), ((4, 3), True), ((3, 4), True)])
def test_a_loss_that_still_fell_on_either_side_leaves_a_claim_on_supervised_quality_unfinished(
    best, unfinished
):
    one, other = (trained(system, best=epoch) for system, epoch in zip(("one", "other"), best))
    kept = of_config(one=[one], other=[other])
    (found,) = gain(zero_shot(ONE), zero_shot(OTHER), at_plateau=True)(kept)
    assert found.unfinished == unfinished
    (found,) = gain(zero_shot(ONE), zero_shot(OTHER))(kept)  # no claim on supervised quality
    assert not found.unfinished


def test_a_training_of_which_no_loss_is_known_may_be_unfinished():
    kept = of_config(one=[made_up_scores("one", 1, 9.0)], other=[trained("other")])
    (found,) = gain(zero_shot(ONE), zero_shot(OTHER), at_plateau=True)(kept)
    assert found.unfinished


def test_losses_are_compared_seed_by_seed_after_as_many_updates():
    one = [trained("one", seed, loss=seed + more) for seed, more in ((1, 0.25), (2, 0.5), (3, 0.75))]
    other = [trained("other", seed, loss=seed) for seed in (1, 2, 3)]
    (found,) = loss_difference(ONE, OTHER, part="")(of_config(one=one, other=other))
    noise = half_width([[0.25, 0.5, 0.75]])
    assert found.measured.interval == pytest.approx((0.5 - noise, 0.5 + noise))
    shorter = [*other[:2], trained("other", 3, updates=399)]
    assert loss_difference(ONE, OTHER, part="")(of_config(one=one, other=shorter)) == []


def test_runs_that_go_on_from_others_are_no_evidence():
    one, other = (
        replace(made_up_scores(system, 1, 9.0), adapted_from={"config": "made_up", "languages": ["en", "de"]})
        for system in ("one", "other")
    )
    assert gain(zero_shot(ONE), zero_shot(OTHER))(of_config(one=[one], other=[other])) == []
    counted = replace(
        one, results=[replace(result, identified={"en": 0.5, "fr": 0.5}) for result in one.results]
    )
    assert pivot_language_share(ONE)(of_config(one=[counted])) == []
    (found,) = pivot_language_share(ONE)(of_config(one=[replace(counted, adapted_from=None)]))
    assert found.measured.mean == 0.5


def test_what_says_only_a_part_of_a_claim_says_it_weakly():
    one, other = ([made_up_scores(system, seed, 9.0) for seed in (1, 2)] for system in ("one", "other"))
    whole = gain(zero_shot(ONE), zero_shot(OTHER))
    kept = of_config(one=one, other=other)
    (found,), (part,) = whole(kept), label_as_part("one pair alone", whole)(kept)
    assert found.speaks and not part.speaks and part.part == "one pair alone"


def test_of_some_directions_the_interval_is_made_of_that_of_each():
    def side(system: str, bleu: float, noise: float) -> Scores:
        scores = made_up_scores(system, 1, zero_shot=bleu)
        return replace(scores, results=[with_interval(result, noise) for result in scores.results])

    def with_interval(result: Result, noise: float) -> Result:
        bleu, noise = result.figures["bleu"], noise if result.direction in some else 9.0
        return replace(result, uncertainty=Uncertainty({"bleu": (bleu - noise, bleu + noise)}))

    places, some = (zero_shot(ONE), zero_shot(OTHER)), [Direction("de", "fr")]
    systems = {"one": [side("one", 20.0, 3.0)], "other": [side("other", 15.0, 4.0)]}
    (found,) = compare("made_up", systems, places, directions=some, wanted=at_least(1.0))
    assert found.measured.interval == pytest.approx((5.0 - 5.0, 5.0 + 5.0))  # 3² + 4² = 5²
    assert found.range == at_least(1.0)
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
