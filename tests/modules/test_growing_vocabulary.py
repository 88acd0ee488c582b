"""A vocabulary that grew: each language writes what it held when the language was complete."""

import pytest
import torch
from torch import nn

from tests.support.rounding import assert_alike
from zsnmt.modules.growing_vocabulary import GrowingVocabulary

B, T, C = 5, 3, 4
SIZES = 6, 9, 11
PREFIX = torch.tensor([[5, 4, 1], [6, 7, 3], [9, 10, 2], [0, 3, 3], [8, 8, 8]])  # tags first
WRITES = 6, 9, 11, 6, 9  # by row


@pytest.fixture
def vocabulary() -> GrowingVocabulary:
    return GrowingVocabulary(SIZES)


@pytest.fixture
def features() -> torch.Tensor:
    return torch.randn(T, B, C, generator=torch.Generator().manual_seed(2)).transpose(0, 1)


@pytest.fixture
def table() -> nn.Parameter:
    return nn.Parameter(torch.randn(SIZES[-1], C, generator=torch.Generator().manual_seed(3)))


@pytest.mark.usefixtures("float64")
def test_each_row_is_projected_and_normalised_within_what_its_language_writes(vocabulary, features, table):
    features, table = features.double(), table.double()
    logits = vocabulary(features, PREFIX, table)
    log_probabilities, probabilities = (vocabulary.normalize(logits, as_log) for as_log in (True, False))
    filled = vocabulary.normalize(logits, True, mean_beyond=True)
    assert logits.shape == log_probabilities.shape == probabilities.shape == filled.shape == (B, T, SIZES[-1])
    for b, size in enumerate(WRITES):
        for t in range(T):
            scores = torch.stack([table[v] @ features[b, t] for v in range(size)])
            normalised = scores.exp() / scores.exp().sum()
            assert_alike(logits[b, t, :size], scores)
            assert_alike(log_probabilities[b, t, :size], normalised.log())
            assert_alike(probabilities[b, t, :size], normalised)
            assert_alike(filled[b, t].mean(), normalised.log().mean())
    beyond = torch.arange(SIZES[-1]) >= torch.tensor(WRITES).view(B, 1, 1)
    beyond = beyond.expand(B, T, -1)
    assert (logits[beyond] == -torch.inf).all() and (log_probabilities[beyond] == -torch.inf).all()
    assert (probabilities[beyond] == 0).all() and filled.isfinite().all()


@pytest.mark.parametrize("stage", range(3))
def test_a_batch_of_one_stage_is_the_linear_layer_of_that_stage_bit_for_bit(
    vocabulary, features, table, stage
):
    rows = [row for row, size in enumerate(WRITES) if size == SIZES[stage]] * 2
    of_stage = nn.Linear(C, SIZES[stage], bias=False)
    of_stage.weight = nn.Parameter(table.detach()[: SIZES[stage]].clone())
    for count in range(1, len(rows) + 1):
        x = (
            features[rows[:count]].transpose(0, 1).contiguous().transpose(0, 1)
        )  # as the decoder's: T×B×C in memory
        with torch.no_grad():
            logits = vocabulary(x, PREFIX[rows[:count]], table)
            assert torch.equal(logits[..., : SIZES[stage]], of_stage(x))
            within = vocabulary.normalize(logits, True)[..., : SIZES[stage]]
            assert torch.equal(within, of_stage(x).log_softmax(-1))


def test_positions_of_several_stages_may_be_flattened_before_they_are_normalised(vocabulary, features, table):
    logits = vocabulary(features, PREFIX, table)
    flat = vocabulary.normalize(logits.flatten(0, 1), True)
    assert torch.equal(flat.unflatten(0, (B, T)), vocabulary.normalize(logits, True))


@pytest.mark.parametrize("mean_beyond", [True, False])
def test_gradients_reach_the_rows_that_some_language_writes_and_are_finite(
    vocabulary, features, table, mean_beyond
):
    for rows, reached in (([0, 3], 6), ([0, 1], 9), ([2], 11)):
        log_probabilities = vocabulary.normalize(
            vocabulary(features[rows], PREFIX[rows], table), True, mean_beyond
        )
        log_probabilities[..., 1].sum().backward()
        assert table.grad.isfinite().all()
        assert table.grad[:reached].abs().sum(1).all() and not table.grad[reached:].any()
        table.grad = None


@pytest.mark.parametrize("sizes", [[6], [6, 6], [9, 6], []])
def test_sizes_that_do_not_ascend_are_refused(sizes):
    with pytest.raises(ValueError, match="two or more, and ascend"):
        GrowingVocabulary(sizes)
