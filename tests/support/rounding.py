"""How far apart two ways of computing one thing may be: by rounding, whose size follows from arithmetic.

Kernels add in an order of their own, another on each processor, so the last bits differ. Of three measures a
test takes the first that it can:

1. float64. Two ways that are one in mathematics agree there to `EXACT` of the largest number: `alike`,
   `assert_alike`.
2. A known sum. In whatever order n terms are added, the result is within n roundings of the sum of their
   sizes (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1): `assert_rounded`.
3. A whole model in float32, of which no short formula is known. The error of PyTorch's own result, seen from
   float64, is the measure: `assert_as_near`.
"""

import pytest
import torch
from fairseq import utils
from torch import Tensor
from torch.nn import functional as F

from zsnmt.inference import pytorch

# of the largest number: a million roundings of float64, and far below anything that a fault changes
EXACT = 1e-10
VISIBLE = 1e-5  # of the largest number: what differs shall differ by so much
TIMES = 8  # as far from the exact result as PyTorch's own, at most


@pytest.fixture
def float64_attention(monkeypatch) -> None:
    """fairseq's softmax in the precision of its input; it rounds float64 to float32 otherwise."""
    monkeypatch.setattr(utils, "softmax", at_least_float32(F.softmax))


@pytest.fixture
def float64(float64_attention, monkeypatch) -> None:
    """The same of its log-probabilities; searches, which add them in float32, do without."""
    monkeypatch.setattr(utils, "log_softmax", at_least_float32(F.log_softmax))


def at_least_float32(softmax):
    return lambda x, dim, onnx_trace=False: softmax(
        x, dim=dim, dtype=torch.promote_types(x.dtype, torch.float32)
    )


def open_in_float64(monkeypatch) -> None:
    """Runs that are opened from now on compute in float64, in which rounding decides between no two
    hypotheses.
    """
    load_run = pytorch.load_run

    def load(*arguments):
        trained = load_run(*arguments)
        trained.model.double()
        return trained

    monkeypatch.setattr(pytorch, "load_run", load)


def alike(found: Tensor, expected: Tensor) -> bool:
    """Whether two results in float64 are the same to `EXACT`; if not, they must differ by more than
    `VISIBLE`.
    """
    assert found.dtype == expected.dtype == torch.float64, (
        f"{found.dtype} and {expected.dtype} are compared; make both float64"
    )
    assert found.shape == expected.shape and not found.isnan().any() and not expected.isnan().any()
    if not same_infinities(found, expected):
        return False
    apart, largest = distance(found, expected), size_of(expected)
    assert not EXACT * largest < apart <= VISIBLE * largest, (
        f"{apart} apart, where the largest is {largest}: neither the same nor plainly different"
    )
    return apart <= EXACT * largest


def assert_alike(found: Tensor, expected: Tensor) -> None:
    """The same results in float64."""
    assert alike(found, expected), (
        f"{distance(found, expected)} apart, where the largest is {size_of(expected)}"
    )


def assert_rounded(found: Tensor, exact: Tensor, terms: float, sizes: Tensor | None = None) -> None:
    """`found` is `exact`, which is in float64, but for so many roundings of a number as large as `sizes`.

    Without `sizes`, of the largest number of `exact`. A rounding is half a unit in the last place of found's
    type.
    """
    assert exact.dtype == torch.float64 and found.dtype != torch.float64 and found.shape == exact.shape
    bound = terms * torch.finfo(found.dtype).eps / 2 * (size_of(exact) if sizes is None else sizes)
    over = (found.double() - exact).abs() - bound
    assert (over <= 0).all(), f"{over.max()} more than {terms} roundings"


def assert_product(found: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> None:
    """`found` is x Wᵀ + b (x: …×C, W: D×C, b: D, or None) but for a rounding of each of the C + 1 terms."""
    factors = [factor if factor is None else factor.detach().double() for factor in (x, weight, bias)]
    sizes = F.linear(*(factor if factor is None else factor.abs() for factor in factors))
    assert_rounded(found.detach(), F.linear(*factors), x.size(-1) + 1, sizes)


def assert_as_near(found: Tensor, stock: Tensor, exact: Tensor, size: float | None = None) -> None:
    """`found` is about as near to `exact`, which is in float64, as `stock` is, PyTorch's own result in
    found's type.

    Both are rounded at numbers as large as `size`, the largest of `exact` if it is not given.
    """
    assert (
        exact.dtype == torch.float64
        and found.dtype == stock.dtype != torch.float64
        and found.shape == exact.shape
    )
    assert same_infinities(found, exact) and same_infinities(stock, exact)
    size = size_of(exact) if size is None else size
    of_found, of_stock = distance(found.double(), exact), distance(stock.double(), exact)
    least = torch.finfo(found.dtype).eps * size  # stock may be nearer by chance
    assert of_stock <= 1000 * least, (
        f"PyTorch's own result is {of_stock} off: another number, not another rounding"
    )
    assert of_found <= TIMES * max(of_stock, least), f"{of_found} off, PyTorch's own {of_stock}"


def same_infinities(a: Tensor, b: Tensor) -> bool:
    return torch.equal(a.double().masked_fill(a.isfinite(), 0), b.double().masked_fill(b.isfinite(), 0))


def distance(a: Tensor, b: Tensor) -> float:
    """The largest difference between finite numbers."""
    apart = (a - b)[b.isfinite()].abs()
    return apart.max().item() if len(apart) else 0.0


def size_of(x: Tensor) -> float:
    """The largest finite number, or 1 if all are smaller."""
    return x[x.isfinite()].abs().amax(dim=0).clamp(min=1).item() if x.isfinite().any() else 1.0
