"""Linear layers by oneDNN: PyTorch's to rounding where they train, and bit for bit elsewhere."""

import itertools

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.support.rounding import assert_product, assert_rounded
from zsnmt.modules import onednn_linear as onednn
from zsnmt.modules.onednn_linear import AVAILABLE, OneDnnLinear, multiply, onednn_linear

T, B, C, D = 5, 3, 40, 56


@pytest.fixture
def calls(monkeypatch) -> list:
    """One entry for each product by oneDNN."""
    made = []
    monkeypatch.setattr(onednn, "multiply", lambda *factors: made.append(factors) or multiply(*factors))
    return made


def with_gradients(
    function, *factors, dtype: torch.dtype = torch.float32, sign=lambda x: x
) -> list[torch.Tensor]:
    """The result of some factors, in a type, and the gradients of those that want one; `sign` is applied
    to all that is multiplied.
    """
    factors = [
        factor if factor is None else sign(factor.detach().to(dtype)).requires_grad_(factor.requires_grad)
        for factor in factors
    ]
    result = function(*factors)
    generator = torch.Generator().manual_seed(3)
    result.backward(sign(torch.randn(result.shape, generator=generator).to(dtype)))
    return [result.detach(), *(factor.grad for factor in factors if factor is not None)]


def assert_sums(found: list[torch.Tensor], function, *factors) -> None:
    """The result and the gradients of a product are sums of the exact terms, but for a rounding at each of
    these.
    """
    exact, sizes = (
        with_gradients(function, *factors, dtype=torch.float64, sign=sign)
        for sign in (lambda x: x, torch.abs)
    )
    terms = max(*factors[1].shape, exact[0].numel() // exact[0].size(-1)) + 2  # and the bias, and a scale
    for own, true, size in zip(found, exact, sizes, strict=True):
        assert own.shape == true.shape and own.dtype == torch.float32
        assert_rounded(own, true, terms, size)


def factors_of(shape: tuple, width: int, bias: bool = True, needing: tuple = (True, True, True)) -> list:
    generator = torch.Generator().manual_seed(2)
    sizes = [(*shape, C), (width, C), (width,)]
    made = [
        torch.randn(size, generator=generator).requires_grad_(needed) for size, needed in zip(sizes, needing)
    ]
    return made if bias else [*made[:2], None]


def test_this_pytorch_has_the_kernel():
    """Should it lose it, `F.linear` takes over, and this test says that the speed is gone."""
    assert AVAILABLE


@pytest.mark.parametrize("shape", [(T, B), (7,), (), (2, T, B), (1, 1)])
@pytest.mark.parametrize("width", [D, C, 9, 1])
@pytest.mark.parametrize("bias", [True, False])
def test_result_and_gradients_are_the_exact_ones_to_rounding_as_pytorchs_are(shape, width, bias, calls):
    factors = factors_of(shape, width, bias)
    found = with_gradients(onednn_linear, *factors)
    assert len(calls) == 3
    for results in (found, with_gradients(F.linear, *factors)):
        assert_sums(results, F.linear, *factors)


def test_factors_may_have_any_strides():
    x, weight, bias = factors_of((B, T), D)
    for views in ((x.transpose(0, 1), weight), (x, weight.t().contiguous().t()), (x[:, ::2], weight[::2])):
        given = [*views, bias[: len(views[1])]]
        assert_product(onednn_linear(*given), *given)
    of_x, of_weight = torch.autograd.grad(onednn_linear(x, weight, bias).sum(), (x, weight))
    upstream = torch.ones(()).expand(B, T, D)  # the gradient that comes in has strides of 0
    assert_product(of_x, upstream, weight.t())
    assert_product(of_weight, upstream.flatten(0, 1).t(), x.flatten(0, 1).t())


def test_the_result_may_be_changed_in_place():
    """fairseq's attention scales queries so."""
    factors = factors_of((T, B), D)
    found = with_gradients(lambda *given: onednn_linear(*given).mul_(0.5), *factors)
    assert_sums(found, lambda *given: F.linear(*given) * 0.5, *factors)


@pytest.mark.parametrize("needing", [*itertools.product([True, False], repeat=3)][:-1])
def test_only_the_gradients_that_are_wanted_are_computed(needing, calls):
    found = with_gradients(onednn_linear, *factors_of((T, B), D, needing=needing))
    assert [gradient is not None for gradient in found[1:]] == list(needing)
    assert len(calls) == 1 + sum(needing[:2])


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types_mixed_precision_and_empty_batches_go_by_pytorch(dtype, calls):
    factors = factors_of((T, B), D)
    converted = [factor.to(dtype) for factor in factors]
    assert torch.equal(onednn_linear(*converted), F.linear(*converted))
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(onednn_linear(*factors), F.linear(*factors))
    assert onednn_linear(factors[0][:0], *factors[1:]).shape == (0, B, D)
    assert not calls


def test_where_the_kernel_is_missing_pytorch_takes_over(monkeypatch, calls):
    monkeypatch.setattr(onednn, "AVAILABLE", False)
    factors = factors_of((T, B), D)
    assert torch.equal(onednn_linear(*factors), F.linear(*factors)) and not calls


@pytest.mark.parametrize("bias", [True, False])
def test_a_layer_takes_over_another_and_differs_in_training_alone(bias, calls):
    stock, x = nn.Linear(C, D, bias), torch.randn(T, B, C)
    state = torch.get_rng_state()
    own = OneDnnLinear(stock)
    assert torch.equal(torch.get_rng_state(), state)
    assert (
        own.weight is stock.weight and own.bias is stock.bias and [*own.state_dict()] == [*stock.state_dict()]
    )
    assert str(own) == str(stock).replace("Linear", "OneDnnLinear")
    assert torch.equal(own.eval()(x), stock(x)) and not calls
    assert_product(own.train()(x), x, stock.weight, stock.bias)
    assert len(calls) == 1
