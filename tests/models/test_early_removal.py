"""A residual that is removed at the beginning of a training, and comes back."""

import copy

import pytest
import torch

from tests.models.test_zs_transformer import build
from zsnmt.adaptation.checkpoint import extend_weights
from zsnmt.errors import InputError
from zsnmt.modules.attention_residual import EarlyRemoval, KeepResidual, RemoveResidual, is_switch
from zsnmt.seams.residual_removal import settle

EARLY = dict(encoder_residual_removal_layers="middle", encoder_residual_removal_updates=3)
REMOVED = dict(encoder_residual_removal_layers="middle")


def states(model, source: torch.Tensor) -> torch.Tensor:
    lengths = (source != model.encoder.padding_idx).sum(1)
    return model.encoder(source, lengths)["encoder_out"][0]


def middle(model):
    return model.encoder.layers[1].attention_residual


def test_it_is_the_model_without_the_residual_at_first_and_the_baseline_afterwards(toy_task, source_batch):
    early, removed, baseline = (build(toy_task, **options).eval() for options in (EARLY, REMOVED, {}))
    without, with_it = (states(model, source_batch) for model in (removed, baseline))
    assert not torch.equal(without, with_it)
    for done in (0, 1, 2):  # of the first three updates
        early.set_num_updates(done)
        assert torch.equal(states(early, source_batch), without)
    for done in (3, 4, 0):  # once it is back it stays, also in a second training
        early.set_num_updates(done)
        assert torch.equal(states(early, source_batch), with_it)


@pytest.mark.parametrize("done, kind", [(0, RemoveResidual), (3, KeepResidual)])
def test_a_model_that_translates_is_a_plain_one(toy_task, source_batch, caplog, done, kind):
    early = build(toy_task, **EARLY).eval()
    early.set_num_updates(done)
    found = states(early, source_batch)
    settle(early)
    assert type(middle(early)) is kind and torch.equal(states(early, source_batch), found)
    assert ("had not made the 3 updates of --encoder-residual" in caplog.text) == (kind is RemoveResidual)


def test_a_checkpoint_says_whether_it_is_back(toy_task):
    first = build(toy_task, **EARLY)
    first.set_num_updates(3)
    again = build(toy_task, **EARLY)
    again.load_state_dict(copy.deepcopy(first.state_dict()), strict=True)
    again.set_num_updates(0)
    assert isinstance(middle(again).settled(), KeepResidual)


@pytest.mark.parametrize("mean, kind", [(0.25, RemoveResidual), (0.5, KeepResidual), (0.75, KeepResidual)])
def test_a_mean_over_its_return_is_one_of_the_two_models(toy_task, source_batch, mean, kind):
    early = build(toy_task, **EARLY).eval()
    middle(early).back.fill_(mean)
    found = states(early, source_batch)
    settle(early)
    assert type(middle(early)) is kind and torch.equal(states(early, source_batch), found)


@pytest.mark.parametrize("options", [{}, REMOVED])
def test_a_model_begins_with_the_weights_of_one_that_never_changes_and_the_other_way_round(toy_task, options):
    early, plain = build(toy_task, **EARLY), build(toy_task, seed=8, **options)
    plain.load_state_dict(copy.deepcopy(early.state_dict()), strict=True)
    assert all(torch.equal(value, early.state_dict()[name]) for name, value in plain.state_dict().items())
    early.set_num_updates(3)  # those of the plain model's training, which fairseq tells first
    early.load_state_dict(build(toy_task, seed=9, **options).state_dict(), strict=True)
    assert isinstance(middle(early).settled(), RemoveResidual)  # a second training begins anew


def test_a_layer_in_the_place_of_another_is_as_far_as_that(toy_task):
    state = build(toy_task, **EARLY).state_dict()
    kept = next(name for name in state if is_switch(name))
    for back in (0.0, 1.0):
        other = build(toy_task, **{**EARLY, "encoder_residual_removal_layers": "1,3"})
        other.load_state_dict({**state, kept: torch.tensor([back])}, strict=True)
        layers = other.encoder.layers
        assert [layers[number].attention_residual.back.item() for number in (0, 2)] == [back, back]


def test_nothing_but_the_switch_is_kept_besides_and_an_adapted_run_has_it(toy_task):
    early, plain = build(toy_task, **EARLY).state_dict(), build(toy_task).state_dict()
    assert [name for name in early if name not in plain] == [name for name in early if is_switch(name)]
    assert len([*early]) == len([*plain]) + 1
    assert all(torch.equal(early[name], plain[name]) for name in plain)
    old = {name: torch.ones(1) if is_switch(name) else value for name, value in early.items()}
    found, _ = extend_weights(old, early, "normal", scale=0.1, generator=torch.Generator())
    assert [value.item() for name, value in found.items() if is_switch(name)] == [1]


def test_it_has_no_weight_to_train():
    assert not [*EarlyRemoval(3).parameters()]


def test_what_it_cannot_be_is_refused(toy_task):
    with pytest.raises(InputError, match="--encoder-residual-removal-updates: updates is -2; it must be 1"):
        build(toy_task, **REMOVED, encoder_residual_removal_updates=-2)
    with pytest.raises(InputError, match="leave out --encoder-residual-replacement"):
        build(toy_task, **EARLY, encoder_residual_replacement="mean_pool")
