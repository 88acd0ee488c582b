"""Feed-forward blocks of languages against their formula, row by row."""

import pytest
import torch
from torch import nn

from tests.support.rounding import assert_alike
from zsnmt.modules.language_feed_forward import LanguageFeedForward

T, B, C, WIDTH = 4, 5, 6, 7
TAGS = (5, 6, 9)
ROWS = torch.tensor([6, 4, 5, 6, 6])  # 4: a language without block; none is in 9


@pytest.fixture
def blocks() -> LanguageFeedForward:
    torch.manual_seed(1)
    return LanguageFeedForward(TAGS, C, WIDTH, dropout=nn.Identity()).double()


def test_each_row_has_the_block_of_its_language_and_others_none(blocks):
    x = torch.randn(T, B, C, dtype=torch.float64)
    blocks.weights.data.copy_(torch.tensor([0.3, -0.2, 2.0]))
    found = blocks(x, ROWS)
    for row, tag in enumerate(ROWS.tolist()):
        expected = torch.zeros(T, C, dtype=torch.float64)
        if tag in TAGS:
            n = TAGS.index(tag)
            hidden = (x[:, row] @ blocks.widen[n].weight.T + blocks.widen[n].bias).clamp(min=0)
            expected = blocks.weights[n] * (hidden @ blocks.narrow[n].weight.T + blocks.narrow[n].bias)
        assert_alike(found[:, row], expected)


def test_a_language_that_no_row_is_in_has_a_gradient_of_zero(blocks):
    blocks(torch.randn(T, B, C, dtype=torch.float64), ROWS).square().sum().backward()
    assert all(weight.grad is not None for weight in blocks.parameters())
    assert not blocks.widen[2].weight.grad.any() and blocks.widen[0].weight.grad.any()


def test_in_training_all_rows_are_those_of_a_sum_over_languages_bit_for_bit(blocks):
    """With the same draws of dropout, and the same gradients."""

    def one_by_one(x, languages):
        added = torch.zeros_like(x)
        for tag, widen, narrow, weight in zip(TAGS, blocks.widen, blocks.narrow, blocks.weights):
            rows = (languages == tag).nonzero().squeeze(1)
            made = weight * blocks.dropout_module(narrow(widen(x[:, rows]).relu()))
            added = added.index_copy(1, rows, made)
        return added

    blocks.float().dropout_module, results = nn.Dropout(0.4), []
    for function in (blocks, one_by_one):
        x = torch.randn(T, B, C, generator=torch.Generator().manual_seed(2)).requires_grad_()
        torch.manual_seed(3)
        made = function(x, ROWS)
        results.append([made, *torch.autograd.grad(made.square().sum(), [x, *blocks.parameters()])])
    assert all(torch.equal(*both) for both in zip(*results, strict=True))


def test_in_evaluation_no_block_is_computed_without_a_row(blocks):
    x, seen = torch.randn(T, B, C, dtype=torch.float64), []
    for tag, widen in zip(TAGS, blocks.widen):
        widen.register_forward_hook(lambda *_, tag=tag: seen.append(tag))
    expected = blocks(x, ROWS)
    assert seen == [5, 6, 9]
    seen.clear()
    assert torch.equal(blocks.eval()(x, ROWS), expected) and seen == [5, 6]
    seen.clear()
    assert not blocks(x, torch.full((B,), 4)).any() and not seen


def test_a_width_below_one_is_refused():
    with pytest.raises(ValueError, match="dimension of the blocks is 0; it must be 1 or more"):
        LanguageFeedForward(TAGS, C, 0, dropout=nn.Identity())
