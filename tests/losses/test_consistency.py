"""CrossConST's distance against its formula in a loop."""

import math

import pytest
import torch

from zsnmt.losses.consistency import COPY, NONE, STOPPED_SIDES, TRANSLATION, consistency

N, V = 5, 7


def predictions(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    logits = torch.randn(N, V, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return logits.requires_grad_(), logits.log_softmax(-1)


def test_it_is_the_divergence_of_translation_from_copy_summed_over_tokens():
    (_, p), (_, q) = predictions(1), predictions(2)
    of_each = zip(p.flatten().tolist(), q.flatten().tolist())
    expected = sum(math.exp(of_p) * (of_p - of_q) for of_p, of_q in of_each)
    assert consistency(p, q).item() == pytest.approx(expected, rel=1e-12)
    assert consistency(p, q).item() > 0 and consistency(p, p).item() == 0
    assert consistency(q, p).item() != pytest.approx(expected), "not symmetric"


@pytest.mark.parametrize("stopped", STOPPED_SIDES)
def test_a_stopped_side_has_no_gradient_and_the_value_stays(stopped):
    (of_p, p), (of_q, q) = predictions(1), predictions(2)
    value = consistency(p, q, stopped)
    assert torch.equal(value, consistency(p, q))
    gradients = torch.autograd.grad(value, [of_p, of_q], allow_unused=True)
    moved = [gradient is not None and bool(gradient.any()) for gradient in gradients]
    assert moved == {NONE: [True, True], TRANSLATION: [False, True], COPY: [True, False]}[stopped]
