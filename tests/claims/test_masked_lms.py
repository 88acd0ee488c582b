"""What kept masked LMs say of word orders, by made-up runs, and what trainings of them cost."""

import os
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from tests.support.masked_lms import made_up_masked_lm
from zsnmt.claims.costs import masked_lm_hours
from zsnmt.claims.masked_lms import (
    condition_difference,
    gap_growth,
    groups,
    lowest_change,
    order_difference,
)
from zsnmt.masked_lm.config import read_study_config
from zsnmt.masked_lm.report.columns import FIRST, FULL, ML_SCORE


def kept(scores: dict[tuple[str, str, int], float], config: str = "demo"):
    """Runs with a score, which is their perplexity as well, by condition, system and seed."""
    runs = [
        made_up_masked_lm(system, condition, seed, ml_score=score, perplexity={"full": score, "first": score})
        for (condition, system, seed), score in scores.items()
    ]
    return SimpleNamespace(masked_lms={config: runs})


def effects(scores: dict[tuple[str, str, int], float]):
    return order_difference(ML_SCORE, ("learned", "sinusoidal"))(kept(scores))


def test_svo_orders_are_compared_with_others_by_their_means():
    scores = {
        ("velor", "learned", 0): 0.5,
        ("velor", "sinusoidal", 0): 0.3,
        ("velan", "learned", 0): 0.2,
        ("velan", "sinusoidal", 0): 0.1,
        ("tamun", "learned", 0): 0.1,
        ("tamun", "sinusoidal", 0): 0.0,
    }
    (found,) = effects(scores)
    assert found.measured.mean == pytest.approx(0.4 - (0.15 + 0.05) / 2) and not found.several
    assert found.part == "EN+[EN∼VELOR] minus EN+[EN∼TAMUN], EN+[EN∼VELAN]"
    (found,) = effects({**scores, **{(*key[:2], 1): score + 0.2 for key, score in scores.items()}})
    assert found.seeds == "0, 1" and found.several and found.measured.mean == pytest.approx(0.3)
    (found,) = effects({**scores, ("velor", "learned", 1): 1.0, ("velor", "sinusoidal", 1): 1.0})
    assert found.seeds == "0" and not found.several and found.measured.mean == pytest.approx(0.4 - 0.1)
    half = {("velor", system, 1): 1.0 for system in ("learned", "sinusoidal")}
    half |= {("tamun", system, 1): 1.0 for system in ("learned", "sinusoidal")}  # and none of VELAN
    (found,) = effects({**scores, **half})
    assert found.seeds == "0" and found.measured.mean == pytest.approx(0.4 - 0.1)


def test_encodings_that_some_order_lacks_are_left_out():
    (found,) = effects(
        {
            ("velor", "learned", 0): 0.5,
            ("velor", "sinusoidal", 0): 0.3,
            ("velan", "learned", 0): 0.5,
        }
    )
    assert found.measured.mean == pytest.approx(0.0)
    assert effects({("velor", "learned", 0): 0.5, ("velan", "sinusoidal", 0): 0.5}) == []


def test_same_order_is_neither_and_one_group_alone_says_nothing():
    both = {("same", "learned", 0): 0.9, ("velan", "learned", 0): 0.2}
    assert effects(both) == [] and effects({("velor", "learned", 0): 0.2}) == []


def by_system(condition: str, *scores: tuple[str, list[float]]) -> dict[tuple[str, str, int], float]:
    return {
        (condition, system, seed): score for system, values in scores for seed, score in enumerate(values)
    }


def test_the_gap_of_two_groups_is_the_first_minus_the_second():
    scores = by_system(
        "same", ("learned", [0.6, 0.8]), ("sinusoidal", [0.4, 0.6]), ("relative_key", [0.1, 0.2])
    )
    (found,) = groups(ML_SCORE, ("learned", "sinusoidal"), ("relative_key",))(kept(scores))
    assert found.measured.mean == pytest.approx(0.6 - 0.15) and len(found.deviations) == 2


def test_a_seed_that_one_encoding_lacks_does_not_count():
    scores = by_system("same", ("learned", [0.6, 0.9]), ("sinusoidal", [0.4]), ("relative_key", [0.1, 0.2]))
    (found,) = groups(ML_SCORE, ("learned", "sinusoidal"), ("relative_key",))(kept(scores))
    assert found.measured.mean == pytest.approx(0.5 - 0.1) and found.seeds == "0"


def test_one_language_alone_is_no_bilingual_condition():
    scores = by_system("none", ("learned", [0.6]), ("relative_key", [0.1]))
    assert groups(FULL, ("learned",), ("relative_key",))(kept(scores)) == []


def test_perplexities_are_compared_seed_by_seed_since_each_has_masks_of_its_own():
    scores = by_system("same", ("learned", [10.0, 20.0, 90.0]), ("relative_key", [9.0, 18.8]))
    (found,) = groups(FULL, ("learned",), ("relative_key",))(kept(scores))
    assert found.seeds == "0, 1" and found.measured.mean == pytest.approx(1.1)
    (deviation,) = found.deviations
    assert deviation == pytest.approx(0.2 / 2**0.5)


def test_a_condition_is_compared_with_another():
    scores = by_system("same", ("learned", [0.6])) | by_system("none", ("learned", [0.9]))
    (found,) = condition_difference(ML_SCORE, ("learned",), one="same", other="none")(kept(scores))
    assert found.measured.mean == pytest.approx(-0.3) and found.part == "EN+[EN] and EN alone"


def test_the_growth_of_a_gap_is_of_the_encodings_that_both_orders_have():
    same = by_system("same", ("learned", [0.6]), ("tupe_absolute", [0.4]), ("relative_key", [0.1]))
    other = by_system("velan", ("learned", [0.5]), ("tupe_absolute", [0.1]))
    (found,) = gap_growth(ML_SCORE)(kept(same | other))
    assert found.measured.mean == pytest.approx((0.5 - 0.1) - (0.6 - 0.4))
    assert gap_growth(ML_SCORE)(kept(same)) == []


def test_the_lowest_change_is_that_of_the_encoding_that_gains_most():
    same = by_system("same", ("learned", [9.0, 9.5]), ("relative_key", [8.0, 8.0]))
    other = by_system("velan", ("learned", [9.5, 9.5]), ("relative_key", [7.0, 7.5]))
    (found,) = lowest_change(FIRST)(kept(same | other))
    assert found.measured.mean == pytest.approx(-0.75) and found.part.endswith("relative_key")
    assert found.chosen_from == 2 and found.unfinished  # so short a training says so weakly
    (found,) = lowest_change(FIRST)(kept(same | other, config="bert_tiny_long"))
    assert not found.unfinished
    alone = by_system("velan", ("tupe_absolute", [1.0, 1.0]))  # which has nothing to be compared with
    (beside,) = lowest_change(FIRST)(kept(same | other | alone, config="bert_tiny_long"))
    assert beside == found


def test_hours_of_masked_lms_grow_with_updates_lines_and_layers(tmp_path):
    (tmp_path / "train.en").write_text("x" * 1_000_000)
    (tmp_path / "valid.en").touch()
    variables = {**os.environ, "BIBLE": str(tmp_path)}

    def hours(name: str, condition: str = "same", **changes: str) -> float:
        text = (ROOT / "configs" / f"{name}.conf").read_text()
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "changed.conf"
        path.write_text(text)
        return masked_lm_hours(read_study_config(path, variables), condition, "learned")

    tiny = hours("bert_tiny")
    assert 0.003 < tiny < 0.03  # half a minute
    assert hours("bert_tiny", **{"--max-update 800": "--max-update 1600"}) == pytest.approx(2 * tiny)
    assert hours("bert_tiny", **{"--encoder-layers 4": "--encoder-layers 12"}) > tiny
    counted = hours("bert_fake_english")
    assert hours("bert_fake_english", **{"EPOCHS=100": "EPOCHS=50"}) == pytest.approx(counted / 2)
    assert hours("bert_fake_english", condition="none") < counted / 2  # half the lines, and of the vocabulary
    estimated = hours("bert_fake_english", **{"TRAIN_LINES=15301": ""})  # from the size of the file
    assert estimated == pytest.approx(counted * 10_000 / 15_301)
    (tmp_path / "train.en.conllu").write_text("x" * 1_000_000)
    trees = {"TRAIN_LINES=15301": "", "/train.en": "/train.en.conllu"}
    assert hours("bert_fake_english", **trees) < estimated / 5
    epochs = hours("bert_tiny", **{"--total-num-update 800 --max-update 800": "--max-epoch 20"})
    assert epochs == pytest.approx(tiny * 20 * 3000 / 64 / 800)
    assert hours("bert_tiny", **{"--batch-size 64": "--batch-size 64 --update-freq 4"}) > tiny
