"""Mixed precision on a CPU, and a word where it would bring nothing."""

import logging
import platform

import pytest
import torch
from torch import nn

from zsnmt.modules import cpu_bfloat16 as module
from zsnmt.modules.cpu_bfloat16 import cpu_bfloat16, multiplies_bfloat16, say_without_effect

MULTIPLIES = "multiplies_bfloat16"


@pytest.fixture(autouse=True)
def nothing_said():
    say_without_effect.cache_clear()


@pytest.mark.parametrize("wanted", [True, False])
def test_products_on_a_cpu_are_in_bfloat16_if_that_is_wanted(wanted, caplog, monkeypatch):
    monkeypatch.setattr(module, MULTIPLIES, lambda: True)
    layer, x = nn.Linear(3, 2), torch.randn(4, 3)
    with caplog.at_level(logging.INFO), cpu_bfloat16(wanted, layer):
        assert (layer(x).dtype is torch.bfloat16) == wanted
    assert not caplog.records


def test_on_a_processor_that_would_emulate_it_they_are_in_float32_which_is_said_once(caplog, monkeypatch):
    monkeypatch.setattr(module, MULTIPLIES, lambda: False)
    layer, x = nn.Linear(3, 2), torch.randn(4, 3)
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            with cpu_bfloat16(True, layer):
                assert layer(x).dtype is torch.float32
    assert caplog.messages == [
        "--cpu-bf16 has no effect on this processor, which would be slower so: the training computes in "
        "float32"
    ]


@pytest.mark.parametrize(
    "processor, avx512, onednn, multiplies",
    [("x86_64", True, True, True), ("x86_64", False, True, False), ("aarch64", False, True, True)],
)
def test_processors_multiply_in_bfloat16_by_their_own_instructions(
    processor, avx512, onednn, multiplies, monkeypatch
):
    """PyTorch says of any processor with AVX-512 that oneDNN has bfloat16 on it, emulated if it must be."""
    monkeypatch.setattr(platform, "machine", lambda: processor)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: onednn)
    assert multiplies_bfloat16.__wrapped__() is multiplies


def test_elsewhere_it_is_said_once_that_it_has_no_effect(caplog):
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            cpu_bfloat16(True, nn.Linear(3, 2, device="meta"))
        cpu_bfloat16(False, nn.Linear(3, 2, device="meta"))
    assert caplog.messages == ["--cpu-bf16 has no effect on a meta device: train with --bf16 there"]
