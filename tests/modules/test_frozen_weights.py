"""Weights and rows that do not change while others are trained."""

import pytest
import torch
from torch import nn

from zsnmt.modules.frozen_weights import FrozenWeights, freeze_rows

V, C = 7, 3


@pytest.mark.parametrize("number", [0, 4, V])
def test_rows_of_a_table_that_is_used_twice_keep_their_bits_under_adam(number):
    torch.manual_seed(1)
    embedding, projection = nn.Embedding(V, C), nn.Linear(C, V, bias=False)
    projection.weight = embedding.weight
    freeze_rows(embedding.weight, number)
    before = embedding.weight.detach().clone()
    optimizer = torch.optim.Adam([embedding.weight], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        projection(embedding(torch.arange(V))).log_softmax(-1)[:, 2].sum().backward()
        optimizer.step()
    changed = (embedding.weight != before).any(1).tolist()
    assert changed == [False] * number + [True] * (V - number)


def test_frozen_weights_follow_the_mode_of_their_model_and_are_no_weights_of_its_own():
    model = nn.Sequential(nn.Linear(C, C), nn.Linear(C, 2))
    names = list(model.state_dict())
    model.frozen = FrozenWeights(model[0].parameters())
    assert list(model.state_dict()) == names
    for mode in (True, False, True):
        assert [parameter.requires_grad for parameter in model.train(mode).parameters()] == [
            not mode,
            not mode,
            True,
            True,
        ]
    assert len(list(model.parameters())) == len(names)
