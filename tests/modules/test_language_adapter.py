"""Adapters of added languages."""

import pytest
import torch

from tests.support.rounding import assert_alike
from zsnmt.modules.language_adapter import LanguageAdapter, LanguageAdapters

T, B, C, D = 5, 4, 6, 3
TAGS = [9, 7]


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(T, B, C, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def trained(adapter):
    """With weights as if it had been trained."""
    generator = torch.Generator().manual_seed(4)
    for parameter in adapter.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return adapter


def test_an_adapter_is_the_papers_formula_and_begins_as_the_identity(x):
    adapter = LanguageAdapter(C, D).double()
    assert torch.equal(adapter(x), x)
    found, norm, down, up = trained(adapter)(x), adapter.norm, adapter.down, adapter.up
    for t in range(T):
        for b in range(B):
            centred = x[t, b] - x[t, b].mean()
            normed = centred / (centred.square().mean() + norm.eps).sqrt() * norm.weight + norm.bias
            hidden = torch.stack([(down.weight[d] @ normed + down.bias[d]).clamp(min=0) for d in range(D)])
            assert_alike(found[t, b], x[t, b] + up.weight @ hidden + up.bias)


def test_a_row_goes_through_its_languages_adapter_alone(x):
    adapters = trained(LanguageAdapters(TAGS, C, D))
    prefix = torch.tensor([[7, 9], [4, 9], [9, 7], [7, 7]])
    found = adapters(x, prefix)
    for row, adapter in enumerate([adapters.adapters[1], None, adapters.adapters[0], adapters.adapters[1]]):
        alone = x[:, row : row + 1]
        assert_alike(found[:, row : row + 1], alone if adapter is None else adapter(alone))
    assert torch.equal(found[:, 1], x[:, 1])
    assert adapters.eval()(x, torch.full((B, 2), 4)) is x


def test_an_adapter_in_training_without_a_row_has_gradients_of_zero_and_a_frozen_one_none(x):
    adapters = trained(LanguageAdapters(TAGS, C, D))
    frozen, training = adapters.adapters
    frozen.requires_grad_(False)
    found = adapters(x.requires_grad_(), torch.full((B, 2), 4))
    assert torch.equal(found, x)
    found.square().sum().backward()
    assert all(weight.grad is not None and not weight.grad.any() for weight in training.parameters())
    assert torch.equal(x.grad, 2 * x) and not any(weight.grad is not None for weight in frozen.parameters())


def test_adapters_since_a_tag():
    adapters = LanguageAdapters(TAGS, C, D)
    assert adapters.since(8) == [adapters.adapters[0]] and adapters.since(7) == [*adapters.adapters]
    with pytest.raises(ValueError, match="adapter dimension is 0"):
        LanguageAdapters(TAGS, C, 0)
