"""A sum over tokens in chunks against the same sum at once."""

import pytest
import torch
from torch import Tensor

from zsnmt.losses import chunked_loss, chunked_sum
from zsnmt.losses.chunked_sum import ChunkedSum
from zsnmt.losses.consistency import TRANSLATION, consistency

TOKENS, SYMBOLS = 7, 11


def distance(target: Tensor, one: Tensor, other: Tensor) -> Tensor:
    """Of two readings, and of the first one's targets."""
    one, other = one.log_softmax(-1), other.log_softmax(-1)
    return consistency(one, other) - one.gather(1, target.unsqueeze(1)).sum()


@pytest.fixture(params=["forward", "backward"])
def written(request, monkeypatch) -> str:
    """In which pass the gradient is written."""
    if request.param == "backward":
        monkeypatch.setattr(chunked_sum, "writes_gradient", lambda logits: False)
    return request.param


@pytest.fixture(params=[1, 3, TOKENS, 100])
def chunk(request, monkeypatch) -> int:
    """How many tokens are read at a time."""
    monkeypatch.setitem(chunked_loss.CHUNK, "cpu", request.param * SYMBOLS)
    return request.param


def drawn(tokens: int = TOKENS, dtype: torch.dtype = torch.float64) -> tuple[Tensor, list[Tensor]]:
    """Targets, and two readings of them."""
    torch.manual_seed(3)
    logits = [torch.randn(tokens, SYMBOLS, dtype=dtype).requires_grad_() for _ in range(2)]
    return torch.randint(SYMBOLS, (tokens,)), logits


def in_chunks(loss, target: Tensor, logits: list[Tensor]) -> Tensor:
    """The logits are of use afterwards, so that they are copied."""
    return ChunkedSum.apply(loss, target, *(each.clone() for each in logits))


@pytest.mark.usefixtures("written", "chunk")
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_value_and_gradients_are_those_of_the_sum_at_once(scale):
    target, logits = drawn()
    whole = distance(target, *logits)
    value = in_chunks(distance, target, logits)
    assert value.dtype is torch.float64 and float(value) == pytest.approx(float(whole), rel=1e-12)
    expected = torch.autograd.grad(scale * whole, logits)
    for found, gradient in zip(torch.autograd.grad(scale * value, logits), expected):
        torch.testing.assert_close(found, gradient, rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("written", "chunk")
def test_a_reading_through_which_no_gradient_flows_has_zeros():
    target, logits = drawn()

    def stopped(_: Tensor, one: Tensor, other: Tensor) -> Tensor:
        return consistency(one.log_softmax(-1), other.log_softmax(-1), TRANSLATION)

    of_one, of_other = torch.autograd.grad(in_chunks(stopped, target, logits), logits)
    assert not of_one.any() and of_other.abs().max() > 0


def test_no_more_tokens_are_read_at_a_time(chunk):
    target, logits = drawn()
    read = []

    def counted(wanted: Tensor, one: Tensor, other: Tensor) -> Tensor:
        assert len(wanted) == len(one) == len(other)
        read.append(len(wanted))
        return distance(wanted, one, other)

    in_chunks(counted, target, logits)
    assert sum(read) == TOKENS and max(read) == min(chunk, TOKENS)


@pytest.mark.usefixtures("written")
def test_of_no_token_the_sum_is_zero_and_so_are_gradients():
    target, logits = drawn(tokens=0)
    value = in_chunks(distance, target, logits)
    assert float(value) == 0
    assert [each.shape for each in torch.autograd.grad(value, logits)] == [(0, SYMBOLS)] * 2


def test_a_loss_scale_keeps_small_gradients_of_half_precision(monkeypatch):
    """They are scaled in float32 before they are rounded; at once, as fairseq's are."""
    monkeypatch.setitem(chunked_loss.CHUNK, "cpu", 2 * SYMBOLS)
    target, logits = drawn(dtype=torch.float16)

    def faint(_: Tensor, one: Tensor, other: Tensor) -> Tensor:
        return 1e-9 * consistency(one.float().log_softmax(-1), other.float().log_softmax(-1))

    found = torch.autograd.grad(2.0**24 * in_chunks(faint, target, logits), logits)
    expected = torch.autograd.grad(2.0**24 * faint(target, *logits), logits)
    for gradient, of_whole in zip(found, expected):
        assert gradient.dtype is torch.float16 and gradient.any()
        torch.testing.assert_close(gradient, of_whole, rtol=2e-3, atol=1e-7)


def test_logits_without_gradients_stay_as_they_are():
    target, logits = drawn()
    fixed = [each.detach().clone() for each in logits]
    value = ChunkedSum.apply(distance, target, *fixed)
    assert float(value) == pytest.approx(float(distance(target, *logits).detach()))
    assert all(map(torch.equal, logits, fixed)) and not value.requires_grad
