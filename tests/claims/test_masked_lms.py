"""What kept masked LMs say of word orders, by made-up runs, and what trainings of them cost."""

import os
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from zsnmt.claims.costs import masked_lm_hours
from zsnmt.claims.masked_lms import order_difference
from zsnmt.masked_lm.config import read_study_config
from zsnmt.masked_lm.report.tables import ML_SCORE


def effects(scores: dict[tuple[str, str, int], float]):
    """Of runs with a score, by condition, system and seed."""
    runs = [
        dict(condition=condition, system=system, seed=seed, ml_score=score)
        for (condition, system, seed), score in scores.items()
    ]
    return order_difference(ML_SCORE, ("learned", "sinusoidal"))(SimpleNamespace(masked_lms={"demo": runs}))


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
    assert found.seeds == "0, 1; 0" and found.fewest == 1 and not found.several
    assert found.measured.mean == pytest.approx((0.4 + 1.0) / 2 - 0.1)


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
