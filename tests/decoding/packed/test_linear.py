"""Linear layers in 8 bits: what they round, and what they do not."""

import pytest
import torch
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

from tests.support.rounding import assert_product, assert_rounded
from zsnmt.decoding.options import FLOAT16, FLOAT32, INT8, EngineChoice
from zsnmt.decoding.packed import linear
from zsnmt.decoding.packed.linear import check_precision, int8_steps, pack
from zsnmt.errors import InputError

C, D = 12, 7
ONEDNN, MKL = "mkldnn::_linear_pointwise", "aten::addmm"


@pytest.fixture
def layer() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(D, C, generator=generator), torch.randn(D, generator=generator)


def inputs(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, C, generator=torch.Generator().manual_seed(4))


def error(found: torch.Tensor, expected: torch.Tensor) -> float:
    return (found - expected).pow(2).mean().sqrt().item()


@pytest.mark.parametrize("shape", [(5,), (3, 2), (4, 1), (1, 3)])
@pytest.mark.parametrize("biased", [True, False])
def test_results_are_those_of_float32_to_a_few_hundredths(layer, shape, biased):
    weight, bias = layer[0], layer[1] if biased else None
    x, expected = inputs(*shape), F.linear(inputs(*shape), weight, bias)
    assert_product(pack(weight, bias, FLOAT32)(x), x, weight, bias)
    rounded = pack(weight, bias, INT8)(x)
    assert rounded.shape == expected.shape and 0 < error(rounded, expected) < 0.02 * expected.std()


def test_the_error_is_that_of_rounding_to_8_bits(layer):
    """Each input and weight is off by a uniform error of one step: a step squared over 12, on average."""
    x, weight = inputs(2000), layer[0]
    step, steps = (x.max() - x.min()) / 255, int8_steps(weight)  # of inputs, and of a row
    variance = (step**2 * weight.pow(2).sum(1) + steps**2 * x.pow(2).sum(1).mean()) / 12  # D
    found = (pack(weight, None, INT8)(x) - F.linear(x, weight)).pow(2).mean(0)
    torch.testing.assert_close(found, variance, rtol=0.35, atol=0)


def test_what_8_bits_hold_is_exact(layer):
    """Each row of weights has a scale of its own, however small."""
    x, most = (inputs(9) * 1000).remainder(255).floor(), 63  # a pair of them is 127 at most
    weight = (layer[0] * 1000).remainder(2 * most + 1).floor() - most
    weight[:, :2] = torch.tensor([127.0, 0.0])  # the largest, and the largest pair
    x[0, :2] = torch.tensor([0.0, 255.0])  # the range of the inputs
    scales = 10.0 ** -torch.arange(D)[:, None]
    expected = F.linear(x, weight * scales)
    exact = F.linear(x.double(), weight.double() * 10.0 ** -torch.arange(D).double()[:, None])
    assert_rounded(pack(weight * scales, None, INT8)(x), exact, 8, exact.abs())  # a few: of the scales
    assert (
        error(
            pack(weight * scales + 0.3 * scales, None, INT8)(x),
            expected + 0.3 * scales[:, 0] * x.sum(1, keepdim=True),
        )
        > 0.01
    )


@pytest.mark.parametrize("precision", [FLOAT32, INT8])
def test_relu_behind_it_is_relu(layer, precision):
    x, (weight, bias) = inputs(5, 2), layer
    plain, with_relu = (pack(weight, bias, precision, relu=relu)(x) for relu in (False, True))
    sizes = F.linear(x.double().abs(), weight.double().abs(), bias.double().abs())
    assert_rounded(with_relu, plain.double().relu(), 2 * (C + 1), sizes)
    assert plain.min() < 0 == with_relu.min()


def test_zeros_stay_zero(layer):
    weight, bias = layer
    weight[3] = 0
    found = pack(weight, bias, INT8)(inputs(6))
    assert torch.equal(found[:, 3], bias[3].expand(6)) and found.isfinite().all()
    assert torch.equal(pack(weight, bias, INT8)(torch.zeros(2, C)), bias.expand(2, D))
    assert pack(weight, bias, INT8)(inputs(0)).shape == (0, D)


@pytest.mark.parametrize("width", [64, 63])
def test_the_largest_sums_do_not_overflow(width):
    """Processors without instructions for 8 bits add pairs of products in 16. There two equal weights have
    127 steps together, so each becomes 64.
    """
    weight, x = torch.full((D, width), 127.0), torch.full((2, width), 255.0)
    x[1] = 0
    steps = int8_steps(weight)[:, None]
    held = (weight / steps).round() * steps
    assert (held - weight).abs().max() <= 1 and torch.equal(pack(weight, None, INT8)(x), F.linear(x, held))


@pytest.mark.parametrize("precision", [FLOAT32, INT8])
def test_a_layer_does_not_follow_a_gradient(layer, precision):
    weight = layer[0].requires_grad_()
    assert not pack(weight, layer[1], precision)(inputs(2)).requires_grad


def test_int8_is_for_a_cpu():
    assert (
        check_precision(INT8, torch.device("cpu")) == INT8
        and check_precision(FLOAT32, torch.device("cuda")) == FLOAT32
    )
    with pytest.raises(InputError, match="int8 is for a CPU; leave out --precision"):
        check_precision(INT8, torch.device("cuda"))
    with pytest.raises(InputError, match="there is no precision 'int4'; choose float32, int8"):
        EngineChoice(precision="int4")


def test_float16_is_for_a_gpu():
    assert check_precision(FLOAT16, torch.device("cuda")) == FLOAT16
    with pytest.raises(InputError, match="float16 is for a GPU, and there is none; leave out --precision"):
        check_precision(FLOAT16, torch.device("cpu"))


def test_int8_needs_kernels(monkeypatch):
    monkeypatch.setattr(type(torch.backends.quantized), "supported_engines", ["none", "qnnpack"])
    with pytest.raises(InputError, match="this PyTorch has no 8-bit linear layers; leave out --precision"):
        check_precision(INT8, torch.device("cpu"))


@pytest.mark.parametrize(
    "intel, large, kernel", [(True, 99, "aten::addmm"), (True, 9, ONEDNN), (False, 99, ONEDNN)]
)
def test_small_products_on_an_intel_processor_are_mkls(layer, monkeypatch, intel, large, kernel):
    monkeypatch.setattr(linear, "is_intel", lambda: intel)
    monkeypatch.setattr(linear, "LARGE", large)
    multiply = pack(*layer, FLOAT32)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        assert_product(multiply(inputs(5)), inputs(5), *layer)
    assert kernel in {event.name for event in profiler.events()}
