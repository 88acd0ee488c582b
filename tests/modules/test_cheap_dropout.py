"""The dropout whose mask costs a CPU little: the stock one but for the random numbers."""

import pytest
import torch
from fairseq.modules.fairseq_dropout import FairseqDropout

from zsnmt.modules import cheap_dropout
from zsnmt.modules.cheap_dropout import STEPS, CheapDropout, drop_in_place, mask_like

T, B, C = 50, 31, 163  # 252,650 elements, no multiple of four


def dropped_out(p: float, x: torch.Tensor, seed: int = 1) -> torch.Tensor:
    torch.manual_seed(seed)
    return CheapDropout(p)(x)


@pytest.mark.parametrize("p", [0.01, 0.1, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_the_rate_is_p_and_what_is_kept_is_scaled_by_it(p, dtype):
    mask = dropped_out(p, torch.ones(T, B, C, dtype=dtype))
    assert mask.dtype == dtype
    dropped = (mask == 0).double()
    deviation = (p * (1 - p) / mask.numel()) ** 0.5
    assert abs(dropped.mean().item() - p) < 5 * deviation
    assert mask[mask != 0].unique().tolist() == pytest.approx(
        [1 / (1 - p)], rel=2**-8 if dtype == torch.bfloat16 else 1 / STEPS / (1 - p)
    )


@pytest.mark.parametrize("places", [4, 8])
def test_no_place_of_a_random_word_is_dropped_more_often_than_another(places):
    """A word of 64 bits makes four numbers; the default range of integers would leave its first bit 0."""
    p = 0.2
    dropped = (dropped_out(p, torch.ones(8 * 40_000)) == 0).view(-1, places).double()
    deviation = (p * (1 - p) / len(dropped)) ** 0.5
    assert (dropped.mean(dim=0) - p).abs().max() < 5 * deviation
    together = (dropped.t() @ dropped / len(dropped)).fill_diagonal_(p * p)
    assert (together - p * p).abs().max() < 5 * (p * p * (1 - p * p) / len(dropped)) ** 0.5


def test_the_gradient_passes_where_the_input_does():
    x = torch.randn(T, C, generator=torch.Generator().manual_seed(2), requires_grad=True)
    y, upstream = dropped_out(0.3, x), torch.randn(T, C)
    (gradient,) = torch.autograd.grad(y, x, upstream)
    mask = dropped_out(0.3, torch.ones(T, C))
    assert torch.equal(y, x * mask) and torch.equal(gradient, upstream * mask)


def test_masks_are_fresh_and_the_default_generators():
    dropout, x = CheapDropout(0.3), torch.ones(B, C)
    torch.manual_seed(4)
    first, second = dropout(x), dropout(x)
    assert not torch.equal(first, second)
    torch.manual_seed(4)
    assert torch.equal(dropout(x), first) and torch.equal(dropout(x), second)


def test_a_view_is_masked_like_its_copy():
    x = torch.randn(C, T, B).permute(1, 2, 0)
    assert torch.equal(dropped_out(0.3, x), dropped_out(0.3, x.contiguous()))


def test_it_is_the_identity_where_the_stock_dropout_is():
    x = torch.randn(T, C)
    state = torch.get_rng_state()
    assert CheapDropout(0.0)(x) is x and CheapDropout(0.4).eval()(x) is x
    assert torch.equal(torch.get_rng_state(), state)
    dropout = CheapDropout(0.4).eval()
    dropout.make_generation_fast_("layer", retain_dropout=True)
    assert not torch.equal(dropout(x), x)
    assert dropped_out(0.4, torch.empty(0, C)).shape == (0, C)
    assert isinstance(dropout, FairseqDropout)


def test_a_probability_near_one_leaves_something_to_scale():
    assert mask_like(torch.ones(C), 1 - 1e-9).max() <= STEPS


def test_the_least_probability_drops_something():
    assert (mask_like(torch.ones(8 * STEPS), 1e-9) == 0).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_in_place_the_same_elements_are_dropped_without_the_factor(dtype, monkeypatch):
    """Whatever number of them is drawn at a time, as long as words are used up."""
    monkeypatch.setattr(cheap_dropout, "CHUNK", 4 * 1000)
    x = torch.randn(T, B, C).to(dtype)
    x[0] = torch.inf
    torch.manual_seed(3)
    mask, own = mask_like(x, 0.3), x.clone()
    torch.manual_seed(3)
    drop_in_place(own, 0.3)
    assert torch.equal(own, x.masked_fill(mask == 0, 0))


@pytest.mark.parametrize("p", [-0.1, 1.0])
def test_probabilities_are_checked(p):
    with pytest.raises(ValueError, match="below 1"):
        CheapDropout(p)
