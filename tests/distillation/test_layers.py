"""A student with fewer layers than its teacher, or more."""

from itertools import product
from pathlib import Path

import pytest
import torch

from tests.conftest import LANGUAGES, toy_options
from tests.support.decoding import SEAMS, SIZES, build, made_sentences, padded
from zsnmt.distillation.growth import check_blocks, check_growth, growth_of
from zsnmt.distillation.layers import Growth, depths, evenly_spaced, fit_layers, places_of, write_beginning
from zsnmt.distillation.start import PlannedRun
from zsnmt.errors import InputError
from zsnmt.models.zs_transformer import ZeroShotTransformer, zs_transformer
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.runs.commands import option_words

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
    assert evenly_spaced(number, of) == chosen


def test_stacks_with_more_layers_lose_some_and_the_others_stay():
    assert depths(WEIGHTS) == {"encoder": 12, "decoder": 3}
    kept, copies = fit_layers(WEIGHTS, {"encoder": 3, "decoder": 3})
    assert depths(kept) == {"encoder": 3, "decoder": 3}
    assert [kept[f"encoder.layers.{place}.fc1.weight"] for place in range(3)] == [10, 16, 21]
    others = {name: weight for name, weight in WEIGHTS.items() if not name.startswith("encoder.layers.")}
    assert {name: weight for name, weight in kept.items() if name in WEIGHTS and name in others} == others
    assert len(kept) == len(others) + 3 and not copies
    one, _ = fit_layers(WEIGHTS, {"decoder": 1})
    assert depths(one) == {"encoder": 12, "decoder": 1}
    assert one["decoder.layers.0.self_attn.k_proj.bias"] == 30 and one["decoder.layers_like.1.weight"] == 50


@pytest.mark.parametrize(
    ("number", "wanted", "places"),
    [
        (2, 4, [[0, 1], [2, 3]]),
        (3, 4, [[0, 1], [2], [3]]),
        (1, 3, [[0, 1, 2]]),
        (5, 10, [[2 * k, 2 * k + 1] for k in range(5)]),
    ],
)
def test_copies_stand_above_the_layers_that_they_are_of_and_are_spread_evenly(number, wanted, places):
    assert places_of(number, wanted) == places


def test_a_stack_with_fewer_layers_gets_copies_of_its_own():
    grown, copies = fit_layers(WEIGHTS, {"encoder": 12, "decoder": 6})
    assert [grown[f"decoder.layers.{place}.self_attn.k_proj.bias"] for place in range(6)] == [
        30,
        30,
        31,
        31,
        32,
        32,
    ]
    assert copies == {f"decoder.layers.{place}.self_attn.k_proj.bias" for place in (1, 3, 5)}
    assert fit_layers(WEIGHTS, {}) == fit_layers(WEIGHTS, depths(WEIGHTS)) == (WEIGHTS, set())


BLOCKS = "blocks of languages"
REFUSED = {  # 3 encoder layers become 5, of which 1, 3 and 5 are the teacher's
    "tupe relative, middle": "a student with --encoder-position-bias-layers cannot",
    "relative keys and queries, two layers": "a student with --encoder-position-bias-layers cannot",
    "stochastic": "only by --encoder-residual-removal-layers 1,5, which are",
    BLOCKS: "a student with --decoder-language-feed-forward-layers cannot",
    "shaw 16, position query": "only by --encoder-position-query-layers 3, which are",
    "post-norm": "a student with --normalization post cannot",
    "post-norm, all": "a student with --normalization post cannot",
}


@pytest.mark.parametrize("name, layers", [*((name, 3) for name in ["plain", *SEAMS]), (BLOCKS, 2)])
def test_a_deeper_student_begins_as_its_teacher_to_the_bit_or_is_refused(name, layers, tmp_path):
    seam = SEAMS.get(name, {})
    deeper = {**seam, "encoder_layers": 5, "decoder_layers": layers}
    options = [toy_options(**{**SIZES, **sizes}) for sizes in (seam, deeper)]
    for each in options:
        zs_transformer(each)
    if name in REFUSED and (name, layers) != (BLOCKS, 2):  # where only the encoder grows
        with pytest.raises(InputError, match=REFUSED[name]):
            check_growth(*options)
        return
    check_growth(*options)
    teacher, student = (build("zs_transformer", **sizes) for sizes in (seam, deeper))
    torch.save({"model": teacher.state_dict()}, tmp_path / "model.pt")
    growth = Growth({"encoder": 5, "decoder": layers})
    write_beginning(tmp_path / "model.pt", tmp_path / "beginning.pt", growth, seed=1)
    student.load_state_dict(load_checkpoint(tmp_path / "beginning.pt")["model"])
    found, expected = (output_of(model) for model in (student, teacher))
    assert torch.equal(found, expected)
    silent = [weight for weight in student.parameters() if not weight.any()]
    gradients = torch.autograd.grad((found - 1).square().sum(), silent)
    assert len(silent) >= 2 * (2 * 2 + 3 * (layers - 2)) and all(gradient.any() for gradient in gradients)


def output_of(model: ZeroShotTransformer) -> torch.Tensor:
    """What a model computes for some sentences into all languages."""
    sentences = made_sentences(7)
    source = padded([each.source for each in sentences], left=True)
    targets = padded([[each.start, 9, 10] for each in sentences], left=False)
    return model(source, source.ne(1).sum(dim=1), targets)[0]


GAINED = dict(decoder_language_feed_forward_layers="top2", decoder_language_feed_forward_dim=5)
WITHOUT_BLOCKS = "plain", "tupe absolute", "mean pool", "shaw 0"


@pytest.mark.parametrize(
    "name, layers", [*product(WITHOUT_BLOCKS, [2, 4]), ("post-norm, all", 2), ("two widths", 2)]
)
def test_a_student_that_gains_blocks_begins_as_its_teacher_to_the_bit(name, layers, tmp_path):
    """With a deeper decoder, too, whose copies stand above layers without blocks."""
    seam = SEAMS.get(name, {})
    teacher, student = build(**seam), build(**{**seam, **GAINED, "decoder_layers": layers})
    options = toy_options(**{**SIZES, **seam, **GAINED, "decoder_layers": layers}, data="data")
    zs_transformer(options)
    words = option_words({f"--{name.replace('_', '-')}": value for name, value in (SIZES | seam).items()})
    start = PlannedRun(tmp_path, "zs_transformer", words, sizes_of(teacher))
    growth = growth_of(start, sizes_of(student), options)
    assert growth.depths == ({} if layers == 2 else {"encoder": 3, "decoder": 4})
    assert len(growth.blocks) == 2 * (1 + 2 * 2 * len(LANGUAGES[1:]))
    begun = []
    for seed in (1, 1, 2):
        torch.save({"model": teacher.state_dict()}, tmp_path / "model.pt")
        torch.manual_seed(5)
        before = torch.random.get_rng_state()
        write_beginning(tmp_path / "model.pt", tmp_path / "beginning.pt", growth, seed=seed)
        assert torch.equal(torch.random.get_rng_state(), before)
        begun.append(load_checkpoint(tmp_path / "beginning.pt")["model"])
    student.load_state_dict(begun[0])
    assert torch.equal(output_of(student), output_of(teacher))
    drawn = [each for each in growth.blocks if each.endswith("weight") and "widen" in each]
    assert drawn and all(torch.equal(begun[0][each], begun[1][each]) for each in drawn)
    assert not any(torch.equal(begun[0][each], begun[2][each]) for each in drawn)
    silent = [weight for each, weight in student.named_parameters() if ".narrow." in each]
    gradients = torch.autograd.grad((output_of(student) - 1).square().sum(), silent)
    assert not any(weight.any() for weight in silent) and all(gradient.any() for gradient in gradients)


def sizes_of(model: ZeroShotTransformer) -> dict[str, torch.Size]:
    return {name: weight.shape for name, weight in model.state_dict().items()}


def names_with_blocks(layers: int, *chosen: int) -> list[str]:
    """Weights of a decoder of so many layers, by name, of which some, from 1, have language blocks."""
    blocks = [f"decoder.layers.{layer - 1}.language_feed_forward.weights" for layer in chosen]
    return [*(f"decoder.layers.{place}.fc1.weight" for place in range(layers)), *blocks]


@pytest.mark.parametrize(
    ("layers", "blocks", "wanted", "those", "only"),
    [
        (2, 2, 1, [1], "none"),  # the middle layer of each
        (3, 2, 2, [2], "none"),
        (3, 2, 3, [], "2"),
        (4, 3, 3, [1], "2"),
        (5, 3, 3, [2], None),
        (2, 2, 1, [], None),
    ],
)
def test_a_student_has_blocks_in_the_layers_that_begin_with_blocks_or_is_refused(
    layers, blocks, wanted, those, only
):
    given, _ = fit_layers(dict.fromkeys(names_with_blocks(layers, blocks)), {"decoder": wanted})
    names = names_with_blocks(wanted, *those)
    if only is None:
        check_blocks(given, names, Path("run"))
        return
    with pytest.raises(InputError, match=f"only by --decoder-language-feed-forward-layers {only}; give"):
        check_blocks(given, names, Path("run"))


def test_the_beginning_is_the_teachers_checkpoint_but_for_the_layers(tmp_path):
    weights = {name: torch.tensor([float(weight)]) for name, weight in WEIGHTS.items()}
    torch.save({"model": weights, "cfg": {"model": "of the teacher"}}, tmp_path / "model.pt")
    write_beginning(tmp_path / "model.pt", tmp_path / "beginning.pt", Growth({"decoder": 1}), seed=1)
    found = load_checkpoint(tmp_path / "beginning.pt")
    assert found["cfg"] == {"model": "of the teacher"} and depths(found["model"])["decoder"] == 1
    assert {name: weight.item() for name, weight in found["model"].items()} == fit_layers(
        WEIGHTS, {"decoder": 1}
    )[0]
