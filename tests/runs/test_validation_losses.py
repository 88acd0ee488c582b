"""Losses of directions through the logs of batches."""

import math

import pytest
import torch

from zsnmt.runs.validation_losses import ValidationLosses, joined

DIRECTIONS = ["de-en", "en-de", "de-fr"]


def test_the_loss_of_each_direction_is_its_sum_over_its_tokens_whoever_added_the_logs():
    losses = ValidationLosses(DIRECTIONS)
    batches = [("de-en", 6.0, 3), ("de-fr", 5.0, 2), ("de-en", 1.5, 1)]
    logs = [
        losses.of_batch(direction, {"loss": 99.0, "nll_loss": torch.tensor(nats), "ntokens": tokens})
        for direction, nats, tokens in batches
    ]
    added = {name: sum(log[name] for log in logs) for name in logs[0]}
    for given in (logs, [added], [*logs[:2], losses.of_batch(None, {"loss": 9.0, "ntokens": 9}), logs[2]]):
        found = losses.read(given)
        bits = {direction: float(loss.bits) for direction, loss in found.items()}
        assert bits == pytest.approx({"de-en": 7.5 / 4 / math.log(2), "de-fr": 2.5 / math.log(2)})
        together = joined(found.values())
        assert float(together.bits) == pytest.approx(12.5 / 6 / math.log(2)) and together.tokens == 6


def test_without_a_likelihood_the_loss_counts_and_training_has_none():
    losses = ValidationLosses(DIRECTIONS)
    log = {"loss": torch.tensor(3.0), "ntokens": 2}
    assert float(losses.read([losses.of_batch("en-de", log)])["en-de"].nats) == 3
    assert losses.read([log]) == {}
