"""Mixed precision on a CPU, and a word where a model is elsewhere."""

import logging

import pytest
import torch
from torch import nn

from zsnmt.modules.cpu_bfloat16 import cpu_bfloat16, say_without_effect


@pytest.mark.parametrize("wanted", [True, False])
def test_products_on_a_cpu_are_in_bfloat16_if_that_is_wanted(wanted, caplog):
    layer, x = nn.Linear(3, 2), torch.randn(4, 3)
    with caplog.at_level(logging.INFO), cpu_bfloat16(wanted, layer):
        assert (layer(x).dtype is torch.bfloat16) == wanted
    assert not caplog.records


def test_elsewhere_it_is_said_once_that_it_has_no_effect(caplog):
    say_without_effect.cache_clear()
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            cpu_bfloat16(True, nn.Linear(3, 2, device="meta"))
        cpu_bfloat16(False, nn.Linear(3, 2, device="meta"))
    assert caplog.messages == ["--cpu-bf16 has no effect on a meta device: train with --bf16 there"]
