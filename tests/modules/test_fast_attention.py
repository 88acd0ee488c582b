"""Attention in few passes: the formula, with its gradients, by every way in which its results are used."""

import itertools

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.support.rounding import assert_alike, assert_as_near
from zsnmt.modules import fast_attention
from zsnmt.modules.cheap_dropout import mask_like
from zsnmt.modules.fast_attention import FastAttention, softmax_in_place

B, H, TQ, TK, D = 3, 2, 4, 5, 6
SCALE = 0.3
BIASES = [None, (TQ, TK), (B, 1, 1, TK), (1, H, TQ, TK), (B, H, TQ, TK)]


def formula(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, p: float) -> tuple:
    """What the papers write, with the same masks for the same seed."""
    logits = q @ k.transpose(-1, -2) * scale
    probabilities = F.softmax(logits if bias is None else logits + bias, dim=-1)
    kept = probabilities * mask_like(probabilities, p) if p > 0 else probabilities
    return kept @ v, probabilities, kept


def inputs(bias: tuple | None, dtype: torch.dtype = torch.float64) -> list[Tensor | None]:
    generator = torch.Generator().manual_seed(5)
    shapes = (B, H, TQ, D), (B, H, TK, D), (B, H, TK, D), bias
    return [
        None if shape is None else torch.randn(shape, generator=generator).to(dtype).requires_grad_()
        for shape in shapes
    ]


def results(function, given: list, p: float, used: tuple[bool, ...]) -> list[Tensor]:
    """The outputs that are used, and the gradients of the inputs."""
    torch.manual_seed(1)
    outputs = [output for output, use in zip(function(*given, SCALE, p), used, strict=True) if use]
    generator = torch.Generator().manual_seed(6)
    upstream = [torch.randn(output.shape, generator=generator).to(output) for output in outputs]
    wanted = [each for each in given if each is not None]
    return [*outputs, *torch.autograd.grad(outputs, wanted, upstream, materialize_grads=True)]


@pytest.mark.parametrize("short", [True, False])
@pytest.mark.parametrize("p", [0.0, 0.4])
@pytest.mark.parametrize("bias", BIASES, ids=str)
def test_results_and_gradients_are_the_formulas(bias, p, short, monkeypatch):
    monkeypatch.setattr(fast_attention, "SHORT", TK if short else TK - 1)
    for used in [*itertools.product([True, False], repeat=3)][:-1]:
        found, expected = (results(each, inputs(bias), p, used) for each in (FastAttention.apply, formula))
        for own, true in zip(found, expected, strict=True):
            assert_alike(own, true)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_in_lower_precision_it_is_as_near_as_the_formula(dtype):
    """Whose every step is rounded, in bfloat16."""
    given = inputs(None, dtype)
    exact = results(
        formula,
        [None if each is None else each.detach().double().requires_grad_() for each in given],
        0.0,
        (True, False, False),
    )
    found, stock = (
        results(each, given, 0.0, (True, False, False)) for each in (FastAttention.apply, formula)
    )
    for own, by_formula, true in zip(found, stock, exact, strict=True):
        assert own.dtype is dtype
        assert_as_near(own.detach(), by_formula.detach(), true.detach())


def test_masked_keys_have_no_part_and_large_logits_no_overflow():
    logits = torch.tensor([[900.0, 899.0, -torch.inf], [-torch.inf, 1e30, -1e30]], dtype=torch.float64)
    assert_alike(softmax_in_place(logits.clone()), F.softmax(logits, dim=-1))
