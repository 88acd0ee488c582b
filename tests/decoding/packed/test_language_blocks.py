"""Packed blocks of languages: the module's own values in rows of one language, of several, and of none."""

import pytest
import torch
from torch import nn

from tests.support.rounding import assert_alike
from zsnmt.decoding.options import FLOAT32
from zsnmt.decoding.packed.language_blocks import PackedLanguageBlocks, rows_of_languages
from zsnmt.modules.language_feed_forward import LanguageFeedForward

N, W, C, WIDTH, PIVOT = 5, 3, 6, 7, 4


@pytest.mark.parametrize(
    "tags, of_one",
    [
        ((6, 6, 6, 6, 6), True),
        ((PIVOT,) * N, True),  # which has no block
        ((6, PIVOT, 5, 6, 6), False),
        ((9, 6, 5, PIVOT, 9), False),
    ],
)
@torch.no_grad()
def test_each_row_has_the_block_of_its_language(tags, of_one):
    torch.manual_seed(1)
    blocks = LanguageFeedForward((5, 6, 9), C, WIDTH, dropout=nn.Dropout(0.5)).double().eval()
    blocks.weights.copy_(torch.tensor([0.3, -0.2, 2.0]))
    read, made = torch.randn(2, N, W, C, dtype=torch.float64)
    expected = made + blocks(read.transpose(0, 1), torch.tensor(tags)).transpose(0, 1)
    rows = rows_of_languages(torch.tensor(tags))
    assert [places is None for places in rows.values()] == [of_one] * len({*tags})
    assert_alike(PackedLanguageBlocks(blocks, FLOAT32).add(made, read, rows), expected)
