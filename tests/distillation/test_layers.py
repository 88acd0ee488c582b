"""A student with fewer layers than its teacher."""

import pytest
import torch

from zsnmt.distillation.layers import chosen_layers, depths, keep_layers, write_beginning
from zsnmt.runs.checkpoints import load_checkpoint

WEIGHTS = {
    "encoder.embed_tokens.weight": 0,
    **{f"encoder.layers.{place}.fc1.weight": 10 + place for place in range(12)},
    **{f"decoder.layers.{place}.self_attn.k_proj.bias": 30 + place for place in range(3)},
    "decoder.layers_like.1.weight": 50,
}


@pytest.mark.parametrize(
    ("number", "of", "chosen"),
    [
        (1, 12, [0]),
        (2, 12, [0, 11]),
        (3, 12, [0, 6, 11]),
        (6, 12, [0, 2, 4, 7, 9, 11]),
        (1, 2, [0]),
        (1, 1, [0]),
        (3, 3, [0, 1, 2]),
    ],
)
def test_layers_are_spaced_from_the_first_to_the_last(number, of, chosen):
    """As Shleifer and Rush (2020) list them for 12."""
    assert chosen_layers(number, of) == chosen


def test_stacks_with_more_layers_lose_some_and_the_others_stay():
    assert depths(WEIGHTS) == {"encoder": 12, "decoder": 3}
    kept = keep_layers(WEIGHTS, {"encoder": 3, "decoder": 3})
    assert depths(kept) == {"encoder": 3, "decoder": 3}
    assert [kept[f"encoder.layers.{place}.fc1.weight"] for place in range(3)] == [10, 16, 21]
    others = {name: weight for name, weight in WEIGHTS.items() if not name.startswith("encoder.layers.")}
    assert {name: weight for name, weight in kept.items() if name in WEIGHTS and name in others} == others
    assert len(kept) == len(others) + 3
    one = keep_layers(WEIGHTS, {"decoder": 1})
    assert depths(one) == {"encoder": 12, "decoder": 1}
    assert one["decoder.layers.0.self_attn.k_proj.bias"] == 30 and one["decoder.layers_like.1.weight"] == 50


def test_a_model_with_more_layers_than_the_teacher_gets_none_of_its_own_making():
    assert keep_layers(WEIGHTS, {"encoder": 12, "decoder": 6}) == WEIGHTS
    assert keep_layers(WEIGHTS, {}) == WEIGHTS


def test_the_beginning_is_the_teachers_checkpoint_but_for_the_layers(tmp_path):
    weights = {name: torch.tensor([float(weight)]) for name, weight in WEIGHTS.items()}
    torch.save({"model": weights, "cfg": {"model": "of the teacher"}}, tmp_path / "model.pt")
    write_beginning(tmp_path / "model.pt", tmp_path / "beginning.pt", {"decoder": 1})
    found = load_checkpoint(tmp_path / "beginning.pt")
    assert found["cfg"] == {"model": "of the teacher"} and depths(found["model"])["decoder"] == 1
    assert {name: weight.item() for name, weight in found["model"].items()} == keep_layers(
        WEIGHTS, {"decoder": 1}
    )
