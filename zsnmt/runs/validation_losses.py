"""The loss of each direction in the logs of a validation, whose batches are of one direction each."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

BY_DIRECTION = "_by_direction"  # ends the names of figures in logs that have a row for each direction


class Loss(NamedTuple):
    """The negative log-likelihood of so many tokens, summed, in nats."""

    nats: Tensor
    tokens: Tensor

    @property
    def bits(self) -> Tensor:
        """Bits per token."""
        return self.nats / self.tokens / math.log(2)


class ValidationLosses:
    """Puts the loss of a batch in its direction's place of a log, and reads added logs.

    A figure is one tensor for all directions, which workers add up: a number for each costs more than a
    batch.
    """

    def __init__(self, directions: Sequence[str]) -> None:
        self.directions = directions
        self.places = {direction: place for place, direction in enumerate(directions)}

    def of_batch(self, direction: str | None, log: Mapping) -> dict[str, Tensor]:
        """What the log of a batch has besides; of one without a direction, zeros."""
        found, place = {}, self.places.get(direction or "")
        for name, value in {"nll_loss": log.get("nll_loss", log["loss"]), "ntokens": log["ntokens"]}.items():
            value = torch.as_tensor(value)
            found[f"{name}{BY_DIRECTION}"] = of_directions = value.new_zeros(
                len(self.directions), *value.shape
            )
            if place is not None:
                of_directions[place] = value
        return found

    def read(self, logs: Iterable[Mapping]) -> dict[str, Loss]:
        """The loss of each direction that logs have tokens of; none of those of training."""
        logs = [log for log in logs if f"ntokens{BY_DIRECTION}" in log]
        if not logs:
            return {}
        nats, tokens = (sum(log[f"{name}{BY_DIRECTION}"] for log in logs) for name in ("nll_loss", "ntokens"))
        return {
            self.directions[place]: Loss(nats[place], tokens[place])
            for place in tokens.nonzero().flatten().tolist()
        }


def joined(losses: Iterable[Loss]) -> Loss:
    """The loss of all of these together."""
    nats, tokens = zip(*losses)
    return Loss(sum(nats), sum(tokens))
