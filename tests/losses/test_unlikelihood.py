"""The loss of what should not be written against its formula in a loop."""

import math

import pytest
import torch

from zsnmt.losses.unlikelihood import LEAST, unlikelihood


def test_it_is_the_papers_formula_and_grows_with_the_probability():
    probabilities = [0.01, 0.3, 0.5, 0.9, 0.999]
    logs = torch.tensor(probabilities, dtype=torch.float64).log()
    values = [float(unlikelihood(each)) for each in logs]
    assert values == pytest.approx([-math.log(1 - p) for p in probabilities], rel=1e-9)
    assert values == sorted(values) and float(unlikelihood(logs)) == pytest.approx(sum(values))
    assert float(unlikelihood(logs[:0])) == 0


def test_the_gradient_in_the_probability_is_that_of_the_formula_and_none_at_the_bound():
    p = torch.tensor([0.2, 0.7], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(unlikelihood(p.log()), p)
    assert gradient.tolist() == pytest.approx([1 / (1 - 0.2), 1 / (1 - 0.7)])
    certain = torch.zeros(1, requires_grad=True)  # the logarithm of 1
    value = unlikelihood(certain)
    assert float(value) == pytest.approx(-math.log(LEAST)) and math.isfinite(value)
    assert torch.autograd.grad(value, certain)[0].tolist() == [0]
