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


def test_a_width_below_one_is_refused():
    with pytest.raises(ValueError, match="dimension of the blocks is 0; it must be 1 or more"):
        LanguageFeedForward(TAGS, C, 0, dropout=nn.Identity())
