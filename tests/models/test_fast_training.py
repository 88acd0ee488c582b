"""A model that trains fast: the same loss and gradients, the same evaluation, the same checkpoint."""

import itertools

import pytest
import torch
from torch import nn

from tests.conftest import toy_options
from tests.models.test_zs_transformer import SEAMS
from tests.support.rounding import assert_alike, assert_as_near, assert_rounded
from zsnmt.errors import InputError
from zsnmt.models import zs_transformer as registered
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.modules.cheap_dropout import CheapDropout

ARCHITECTURES = [
    "zs_transformer",
    "zs_transformer_residual",
    "zs_transformer_residual_query",
    "zs_transformer_relative",
]
SUMS = 5 * 5 * (8 + 20)  # of a loss: five layers, five products each, of 8 and of 20 terms
STILL = dict(dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, word_dropout=0.0)
pytestmark = pytest.mark.usefixtures("float64")
MORE = [
    *(
        dict(encoder_position_encoding=name)
        for name in ("tupe_absolute", "tupe_relative", "relative_key", "relative_key_query")
    ),
    dict(relative_attention_distance="2"),
    dict(
        relative_attention_distance="2",
        encoder_position_encoding="tupe_relative",
        encoder_position_query_layers="middle",
    ),
    dict(frozen_vocabulary="6", adapter_dim=3),
    dict(checkpoint_activations=True),
    dict(cross_self_attention=True),
    dict(activation_fn="gelu"),
    dict(decoder_language_feed_forward_layers="top2", decoder_language_feed_forward_dim=5),
    dict(
        share_all_embeddings=False,
        encoder_residual_removal_layers="1,3",
        encoder_residual_replacement="mean_pool",
    ),
]


def build(task, fast: bool, architecture: str = "zs_transformer", **options) -> ZeroShotTransformer:
    torch.manual_seed(7)
    args = toy_options(**options, fast_training=fast)
    getattr(registered, architecture)(args)
    return ZeroShotTransformer.build_model(args, task)


def step(
    model: nn.Module, source: torch.Tensor, target: torch.Tensor, seed: int = 3
) -> tuple[torch.Tensor, dict]:
    """The loss of a batch, whose padding does not count, and the gradients."""
    model.zero_grad()
    torch.manual_seed(seed)
    log_probabilities = model.get_normalized_probs(model(source, None, target), log_probs=True)
    expected = target.roll(-1, dims=1)
    loss = nn.functional.nll_loss(log_probabilities.flatten(0, 1), expected.flatten(), ignore_index=1)
    loss.backward()
    return loss, {
        name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None
    }


def check_same(task, source, target, **options) -> None:
    """Names, weights, loss, gradients and evaluation of the two models are the same."""
    plain, fast, exactly = (build(task, fast, **{**STILL, **options}) for fast in (False, True, False))
    states = plain.state_dict(), fast.state_dict()
    assert list(states[0]) == list(states[1]) and all(
        torch.equal(states[0][name], states[1][name]) for name in states[0]
    )
    outputs = [model.eval()(source, None, target)[0] for model in (plain, fast)]
    assert torch.equal(*outputs)
    (loss, gradients), (own_loss, own_gradients) = (
        step(model.train(), source, target) for model in (plain, fast)
    )
    true_loss, exact = step(exactly.double().train(), source, target)
    for each in (own_loss, loss):
        assert_rounded(each.detach(), true_loss.detach(), SUMS)
    assert list(own_gradients) == list(gradients) == list(exact)
    assert_as_near(
        *(
            torch.cat([gradient.flatten() for gradient in each.values()])
            for each in (own_gradients, gradients, exact)
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("options", SEAMS, ids=lambda options: "-".join(map(str, options.values())))
def test_loss_and_gradients_are_the_same_with_every_combination_of_seams(
    toy_task, source_batch, target_batch, options
):
    check_same(toy_task, source_batch, target_batch, **options)


@pytest.mark.parametrize("options", MORE, ids=lambda options: "-".join(map(str, options.values())))
def test_loss_and_gradients_are_the_same_with_what_else_there_is(
    toy_task, source_batch, target_batch, options
):
    check_same(toy_task, source_batch, target_batch, **options)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("padded", [True, False])
def test_loss_and_gradients_of_every_architecture_are_the_same(
    toy_task, source_batch, target_batch, architecture, padded
):
    rows = slice(None) if padded else slice(1)
    check_same(toy_task, source_batch[rows], target_batch[rows], architecture=architecture)


@pytest.mark.parametrize(
    "options", [dict(), dict(variational_dropout=True), dict(frozen_vocabulary="6", adapter_dim=3)], ids=str
)
def test_dropout_and_linear_layers_are_swapped_and_nothing_else(toy_task, options):
    def kinds(fast: bool) -> dict[str, str]:
        return {
            name: type(module).__name__ for name, module in build(toy_task, fast, **options).named_modules()
        }

    swaps = {"FairseqDropout": "CheapDropout", "Linear": "OneDnnLinear"}
    plain = kinds(False)
    assert set(swaps) < set(plain.values())
    expected = {name: swaps.get(kind, kind) for name, kind in plain.items()}
    for name, kind in plain.items():
        if name.endswith("activation_dropout_module") and kind == "FairseqDropout":
            layer = name.removesuffix(".activation_dropout_module")
            expected |= {f"{layer}.fc1": "OneDnnReluLinear", f"{layer}.fc1.dropout": "CheapDropout"}
            expected |= {name: "Identity", f"{layer}.activation_fn": "Identity"}
    assert kinds(True) == expected


def test_quantisation_noise_is_refused_not_forgotten(toy_task):
    with pytest.raises(InputError, match="--quant-noise-pq does not go with --fast-training"):
        build(toy_task, True, quant_noise_pq=0.1, quant_noise_pq_block_size=4)


@pytest.mark.parametrize("name", ["dropout", "attention_dropout", "activation_dropout"])
def test_each_probability_of_dropout_takes_effect_and_the_seed_decides(
    toy_task, source_batch, target_batch, name
):
    model = build(toy_task, True, **{**STILL, name: 0.4}).train()
    assert {module.p for module in model.modules() if isinstance(module, CheapDropout)} == {0.0, 0.4}
    losses = [step(model, source_batch, target_batch, seed)[0] for seed in (1, 1, 2)]
    assert torch.equal(losses[0], losses[1]) and not torch.equal(losses[0], losses[2])


@pytest.mark.slow
def test_the_expected_loss_is_that_of_the_stock_dropout(toy_task, source_batch, target_batch):
    def losses(fast: bool) -> torch.Tensor:
        model = build(toy_task, fast).train()
        with torch.no_grad():
            logits = [model(source_batch, None, target_batch)[0] for _ in range(200)]
        return torch.stack([torch.log_softmax(each, -1)[..., 9].mean() for each in logits])

    torch.manual_seed(1)
    stock, cheap = losses(False), losses(True)
    assert abs(stock.mean() - cheap.mean()) < 4 * ((stock.var() + cheap.var()) / 200) ** 0.5
    assert cheap.std() == pytest.approx(stock.std(), rel=0.25)


def test_activations_computed_again_meet_the_same_masks(toy_task, source_batch, target_batch):
    models = [build(toy_task, True, checkpoint_activations=again).double().train() for again in (False, True)]
    (loss, gradients), (again, gradients_again) = (
        step(model, source_batch, target_batch) for model in models
    )
    assert torch.equal(loss, again)
    for name in gradients:
        assert_alike(gradients_again[name], gradients[name])


@pytest.mark.slow
def test_a_model_trained_with_the_option_goes_on_without_it(toy_task, source_batch, target_batch):
    fast, plain = build(toy_task, True).train(), build(toy_task, False)
    optimizer = torch.optim.SGD(fast.parameters(), lr=0.1)
    for _ in range(2):
        step(fast, source_batch, target_batch)
        optimizer.step()
    plain.load_state_dict(fast.state_dict())
    outputs = [model.eval()(source_batch, None, target_batch)[0] for model in (fast, plain)]
    assert torch.equal(*outputs)
    assert step(plain.train(), source_batch, target_batch)[0].isfinite()


def test_attention_weights_are_those_without_the_option(toy_task, source_batch, target_batch):
    """The mean over heads of the last layer, which a criterion may want."""
    models = [build(toy_task, fast, **STILL).train() for fast in (False, True)]
    stock, own, exact = (
        model(source_batch, None, target_batch)[1]["attn"][0]
        for model in (*models, build(toy_task, False, **STILL).double().train())
    )
    assert own.shape == (3, 4, 5)
    assert_as_near(own, stock, exact)


def test_losses_in_mixed_precision_agree_to_its_rounding(toy_task, source_batch, target_batch):
    found = []
    for fast, mixed in itertools.product((False, True), repeat=2):
        with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
            found.append(step(build(toy_task, fast, **STILL).train(), source_batch, target_batch)[0])
    for loss in found[1:]:
        assert loss.item() == pytest.approx(found[0].item(), rel=0.01)
