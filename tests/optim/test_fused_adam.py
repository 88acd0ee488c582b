"""The fused Adam against fairseq's: the same weights after any sequence of updates, to rounding."""

import copy

import pytest
import torch
from fairseq.optim.adam import Adam, FairseqAdam, FairseqAdamConfig
from torch import Tensor, nn

from tests.support.rounding import assert_as_near
from zsnmt.optim import fused_adam
from zsnmt.optim.fused_adam import FusedAdam, OnePassAdam, adamw

SHAPES = [(7, 5), (3,), (2, 3, 4)]
# Epsilons that are small and large beside the gradients' second moments.
SETTINGS = [dict(eps=1e-9), dict(eps=1e-2, weight_decay=0.1), dict(eps=1e-1, betas=(0.8, 0.999))]


def make_weights(dtype: torch.dtype = torch.float32) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(1)
    return [nn.Parameter(torch.randn(shape, generator=generator).to(dtype)) for shape in SHAPES]


def update(optimizer: Adam, start: int = 0, stop: int = 8) -> list[Tensor]:
    """The weights after updates by gradients of each number's own; the last weight has none in every
    third.
    """
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    for number in range(start, stop):
        generator = torch.Generator().manual_seed(number)
        for weight in weights:
            weight.grad = torch.randn(weight.shape, generator=generator).to(weight.dtype) * 0.1
        if number % 3 == 1:
            weights[-1].grad = None
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (number + 1)
        optimizer.step()
    return weights


def assert_all_as_near(ours: list[Tensor], stock: list[Tensor], exact: list[Tensor]) -> None:
    for found, expected, true in zip(ours, stock, exact, strict=True):
        assert_as_near(found.detach(), expected.detach(), true.detach())


def assert_fairseqs(ours: list[Tensor], **settings) -> None:
    """Weights that are as near those of all updates in float64 as those that fairseq's Adam finds."""
    assert_all_as_near(
        ours, *(update(Adam(make_weights(dtype), **settings)) for dtype in (torch.float32, torch.float64))
    )


@pytest.mark.parametrize("settings", SETTINGS)
def test_updates_are_fairseqs(settings):
    ours = update(OnePassAdam(make_weights(), **settings))
    assert_fairseqs(ours, **settings)
    assert all((weight - start).abs().max() > 0.001 for weight, start in zip(ours, make_weights()))


@pytest.mark.parametrize(
    "first, second", [(Adam, OnePassAdam), (OnePassAdam, Adam), (OnePassAdam, OnePassAdam)]
)
def test_a_run_can_change_over_at_a_checkpoint(first, second):
    settings = SETTINGS[1]
    before = first(make_weights(), **settings)
    weights = copy.deepcopy(update(before, stop=5))
    after = second(weights, **settings)
    after.load_state_dict(copy.deepcopy(before.state_dict()))
    assert_fairseqs(update(after, start=5), **settings)


def test_the_state_is_fairseqs():
    optimizers = OnePassAdam(make_weights()), Adam(make_weights()), Adam(make_weights(torch.float64))
    for optimizer in optimizers:
        update(optimizer)
    found, expected, exact = (optimizer.state_dict() for optimizer in optimizers)
    assert found["param_groups"] == expected["param_groups"]
    for number, state in expected["state"].items():
        assert (
            found["state"][number].keys() == state.keys() and found["state"][number]["step"] == state["step"]
        )
        assert_all_as_near(
            *(
                [each["state"][number][name] for name in ("exp_avg", "exp_avg_sq")]
                for each in (found, expected, exact)
            )
        )


def test_the_numbers_of_an_update_go_to_the_device_at_once(monkeypatch):
    given = []

    def kept(*arguments, state_steps, **options):
        given.append(
            (
                [float(step) for step in state_steps],
                {step.untyped_storage().data_ptr() for step in state_steps},
            )
        )
        return adamw(*arguments, state_steps=state_steps, **options)

    monkeypatch.setattr(fused_adam, "adamw", kept)
    update(OnePassAdam(make_weights()), stop=3)
    assert [steps for steps, _ in given] == [[0.0] * 3, [1.0] * 2, [2.0] * 2, [1.0]]
    assert all(len(storages) == 1 for _, storages in given)


def test_weights_in_half_precision_are_left_to_fairseq():
    stock, ours = (update(kind(make_weights(torch.bfloat16))) for kind in (Adam, OnePassAdam))
    assert all(torch.equal(found, weight) for found, weight in zip(ours, stock, strict=True))


def test_a_closure_gives_the_loss():
    optimizer = OnePassAdam(make_weights())
    assert optimizer.step(lambda: torch.tensor(3.0)) == 3


def test_fairseqs_options_reach_it():
    options = dict(adam_betas="(0.7, 0.9)", adam_eps=0.3, weight_decay=0.2, lr=[0.05])
    ours, stock = (kind(FairseqAdamConfig(**options), make_weights()) for kind in (FusedAdam, FairseqAdam))
    exact = FairseqAdam(FairseqAdamConfig(**options), make_weights(torch.float64))
    assert isinstance(ours.optimizer, OnePassAdam)
    assert ours.optimizer.state_dict() == stock.optimizer.state_dict()
    assert_all_as_near(*(update(each.optimizer) for each in (ours, stock, exact)))
