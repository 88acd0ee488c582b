"""What kept scores say of gains in two configs: all four systems' seeds count."""

from dataclasses import replace

import pytest

from tests.support.scores import made_up_scores
from zsnmt.claims.kept import Kept
from zsnmt.claims.translation import config_difference, zero_shot
from zsnmt.claims.verdicts import half_width
from zsnmt.report.documents import keep_scores
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
    assert len(found.deviations) == 4 and found.seeds == "1, 2; 1, 2, 3" or found.seeds == "1, 2, 3; 1, 2"
    noise = half_width([*BLEU.values()])
    assert found.measured.interval == pytest.approx((mean - noise, mean + noise))
    assert found.fewest == 2 and found.several


def test_without_another_system_it_is_the_difference_of_two_means(kept):
    (found,) = config_difference([("easy", "hard")], zero_shot(ONE))(kept)
    assert found.measured.mean == pytest.approx(40.5 - 22.0) and len(found.deviations) == 2
    assert config_difference([("easy", "gone")], zero_shot(ONE))(kept) == []
