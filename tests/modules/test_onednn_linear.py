"""Linear layers by oneDNN: PyTorch's to rounding where they train, and bit for bit elsewhere."""

import itertools

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.support.rounding import assert_product, assert_rounded
from zsnmt.modules import onednn_linear as onednn
from zsnmt.modules.cheap_dropout import CheapDropout, factor
from zsnmt.modules.onednn_linear import (
    AVAILABLE,
    OneDnnLinear,
    OneDnnReluLinear,
    joined_linear,
    multiply,
    onednn_linear,
)

T, B, C, D = 5, 3, 40, 56
measured = onednn.is_fast.__wrapped__


@pytest.fixture(autouse=True)
def whatever_the_processor(monkeypatch):
    """oneDNN counts as fast."""
    monkeypatch.setattr(onednn, "is_fast", lambda outputs, inputs: True)


@pytest.fixture
def calls(monkeypatch) -> list:
    """One entry for each product by oneDNN."""
    made = []

    def counted(*factors, **options):
        made.append(factors)
        return multiply(*factors, **options)

    monkeypatch.setattr(onednn, "multiply", counted)
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


@pytest.mark.parametrize("mixed", [True, False])
def test_several_layers_by_one_product_are_each_by_itself(mixed):
    torch.manual_seed(1)
    layers, x = (
        [OneDnnLinear(nn.Linear(C, width)) for width in (D, 9)],
        torch.randn(T, B, C, requires_grad=True),
    )
    with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
        together, apart = joined_linear(x, layers), torch.cat([layer(x) for layer in layers], dim=-1)
        upstream = torch.randn(apart.shape).to(apart)
        wanted = [x, *(parameter for layer in layers for parameter in layer.parameters())]
        found, expected = ([each, *torch.autograd.grad(each, wanted, upstream)] for each in (together, apart))
    for own, other in zip(found, expected, strict=True):
        precision = 2**-7 if mixed else 2**-18  # two roundings of bfloat16; of float32, one for each term
        assert (own - other).abs().max() <= precision * other.abs().max()


@pytest.mark.parametrize("p", [0.0, 0.3])
@pytest.mark.parametrize("mixed", [True, False])
def test_relu_and_dropout_in_the_products_place_are_those_behind_it(p, mixed):
    """A gradient passes where the result is not zero; a number near zero may be rounded to either side."""
    torch.manual_seed(1)
    _, weight, bias = factors_of((T, B), D)
    stock = nn.Linear(C, D)
    stock.weight.data, stock.bias.data = weight.data, bias.data
    layer, x = OneDnnReluLinear(stock, CheapDropout(p)), torch.randn(50, 7, C, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
        own = layer.train()(x)
        plain = onednn_linear(x, layer.weight, layer.bias)
        expected = plain * own.ne(0) * (factor(p) if p else 1)
        upstream = torch.randn(own.shape).to(own)
        wanted = [x, layer.weight, layer.bias]
        found, true = ([each, *torch.autograd.grad(each, wanted, upstream)] for each in (own, expected))
    precision = 2**-6 if mixed else 2**-18
    for each, other in zip(found, true, strict=True):
        assert each.dtype is other.dtype
        assert (each - other).abs().max() <= precision * other.abs().max()
    assert (own >= 0).all()
    positive = plain > precision
    dropped = (positive & own.eq(0)).sum() / positive.sum()
    assert abs(dropped - p) <= 5 * (p * (1 - p) / positive.sum()) ** 0.5


def test_evaluated_relu_and_dropout_are_pytorchs_bit_for_bit():
    stock, x = nn.Linear(C, D), torch.randn(T, B, C)
    layer = OneDnnReluLinear(stock, CheapDropout(0.3)).eval()
    assert torch.equal(layer(x), torch.relu(stock(x)))
    layer.dropout.make_generation_fast_("layer", retain_dropout=True)
    assert not torch.equal(layer(x), torch.relu(stock(x)))


def test_products_are_timed_only_where_they_train_on_a_cpu(monkeypatch):
    monkeypatch.setattr(onednn, "is_chosen", lambda weight: pytest.fail("they were"))
    stock = nn.Linear(C, D)
    elsewhere = OneDnnReluLinear(nn.Linear(C, D, device="meta"), CheapDropout(0.0)).train()
    assert elsewhere(torch.empty(T, B, C, device="meta")).device.type == "meta"
    OneDnnReluLinear(stock, CheapDropout(0.0)).eval()(torch.randn(T, B, C))


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


def test_where_pytorch_is_clearly_faster_it_multiplies(monkeypatch, calls):
    monkeypatch.setattr(onednn, "is_fast", lambda outputs, inputs: outputs == C)
    factors = factors_of((T, B), D)
    assert torch.equal(onednn_linear(*factors), F.linear(*factors)) and not calls
    layer, x = OneDnnReluLinear(nn.Linear(C, D), CheapDropout(0.0)), torch.randn(T, B, C)
    assert torch.equal(layer.train()(x), F.relu(F.linear(x, layer.weight, layer.bias))) and not calls
    onednn_linear(*factors_of((T, B), C))
    assert len(calls) == 1


@pytest.mark.parametrize(("seconds", "fast"), [((3, 2), False), ((6, 5), True), ((1, 4), True)])
def test_the_faster_products_are_chosen_by_the_clock(seconds, fast, monkeypatch, caplog):
    """By a clock on which the products of either take so long, and longer in the first round."""
    onednn_takes, pytorch_takes = seconds
    ticks = itertools.accumulate(
        itertools.chain([0, 99, 0, 99], itertools.cycle([0, onednn_takes, 0, pytorch_takes]))
    )
    monkeypatch.setattr(onednn.time, "thread_time", lambda: float(next(ticks)))
    state, threads = torch.get_rng_state(), []
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    with caplog.at_level("INFO"):
        assert measured(D, C) == fast
    assert torch.equal(torch.get_rng_state(), state) and threads == [1, torch.get_num_threads()]
    assert ("PyTorch multiplies float32 by 56×40 weights 1.5 times as fast as oneDNN" in caplog.text) != fast


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
