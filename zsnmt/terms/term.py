"""What a term of the loss is, and what it sees of the model."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, NoReturn

import torch
from fairseq.tasks import FairseqTask
from torch import Tensor, nn
from torch.nn import functional as F

from zsnmt.data.tag_surgery import TagSurgery
from zsnmt.errors import InputError
from zsnmt.languages import language_tag
from zsnmt.losses.chunked_sum import ChunkedSum, Loss


class Rows(NamedTuple):
    """Rows that a model reads besides those of a batch, and what it is asked about.

    `inputs`: those of the model; `target`: B×T, padding where nothing is asked. `chosen`: to which rows of
    the batch they belong, where those are not all (a mask of its B rows).
    """

    inputs: dict
    target: Tensor
    chosen: Tensor | None = None


class Predictions:
    """What a model says of the tokens of some rows.

    `states`: logits (B×T×V), or features (B×T×C), of which `project` makes logits (N×V), which are then read
    in chunks; `target`: B×T, with padding where nothing is asked.
    """

    def __init__(
        self, states: Tensor, target: Tensor, pad: int, project: Callable[[Tensor], Tensor] | None = None
    ) -> None:
        self.states, self.padded, self.pad, self.project = states, target, pad, project
        self.counted = target.ne(pad)  # B×T
        self.target = target[self.counted]  # N
        self.kept: Tensor | None = None

    def logits(self, again: bool = False) -> Tensor:
        """Those of the tokens that count (N×V), into which the caller may write where there is a `project`.

        `again`: they will be asked for once more, and are not projected once more.
        """
        logits, self.kept = self.kept, None
        if logits is None:
            states = self.states[self.counted]
            logits = states if self.project is None else self.project(states)
        if again:
            self.kept = logits
            return logits.clone()
        return logits

    def of_rows(self, chosen: Tensor | None) -> "Predictions":
        """Those of the rows of a mask (B); without a mask, of all rows."""
        if chosen is None:
            return self
        found = Predictions(self.states[chosen], self.padded[chosen], self.pad, project=self.project)
        if self.kept is not None:
            found.kept = self.kept[chosen.unsqueeze(1).expand_as(self.counted)[self.counted]]
        return found

    def halves(self) -> tuple["Predictions", "Predictions"]:
        """The first half of the rows, and the second."""
        first, second = (
            Predictions(states, target, self.pad, project=self.project)
            for states, target in zip(self.states.chunk(2), self.padded.chunk(2))
        )
        return first, second

    def sum_on_target(self, loss: Callable[[Tensor], Tensor]) -> Tensor:
        """A loss of the log-probabilities of the target's tokens (n), which is a sum over them."""
        return sum_over_tokens(
            lambda target, read: loss(read.gather(1, target.unsqueeze(1)).squeeze(1)), self
        )


def sum_over_tokens(loss: Loss, *readings: Predictions) -> Tensor:
    """A loss of tokens (n) and of the log-probabilities of every symbol in each reading of them (n×V each, in
    float32 at least), which is a sum over the tokens.
    """

    def of_logits(target: Tensor, *logits: Tensor) -> Tensor:
        return loss(target, *map(log_probabilities, logits))

    first, *_ = readings
    logits = [reading.logits() for reading in readings]
    if first.project is None:
        return of_logits(first.target, *logits)
    return ChunkedSum.apply(of_logits, first.target, *logits)


def log_probabilities(logits: Tensor) -> Tensor:
    """Those of logits (n×V), in float32 at least."""
    return F.log_softmax(logits, dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))


class Term(ABC):
    """A term of the loss, a sum over tokens, which counts `weight` times.

    `option` is that of its weight; `reads_translation`: whether its loss is of what the model says of the
    batch, too; `reader`: the model that reads its rows, None for the one in training. A term may refuse a
    task, when it is made, with `InputError`.
    """

    option: str
    reads_translation = False
    reader: nn.Module | None = None

    def __init__(self, weight: float, task: FairseqTask) -> None:
        self.weight, self.task = weight, task
        if getattr(task, "placement", None) is None:
            self.refuse("needs language tags", "use --task zs_translation")
        if task.args.left_pad_target:
            self.refuse(
                "reads the decoder's first token", "leave out --left-pad-target, which puts padding there"
            )
        if getattr(task.args, "frozen_vocabulary", "none") not in ("none", None):
            self.refuse(
                "trains on older languages, too", "leave it out, or train without --frozen-vocabulary"
            )
        if getattr(task.args, "adaptive_softmax_cutoff", None):
            self.refuse("needs every symbol's probability", "leave out --adaptive-softmax-cutoff")

    def refuse(self, what: str, remedy: str) -> NoReturn:
        """`InputError` for a task with which the term makes no sense."""
        raise InputError(f"{self.option} {what}: {remedy}")

    @property
    def pad(self) -> int:
        """The id of padding."""
        return self.task.target_dictionary.pad()

    @property
    def surgery(self) -> TagSurgery:
        """Of the tag placement, which a checkpoint may have restored since the term was made."""
        return TagSurgery(self.task.placement, self.task.args.left_pad_source)

    @property
    def tags(self) -> list[int]:
        """Ids of the languages' tags, the pivot's first."""
        return [self.task.target_dictionary.index(language_tag(each)) for each in self.task.langs]

    @abstractmethod
    def rows(self, sample: dict) -> Rows:
        """What the model, or `reader`, is to read besides a batch."""

    @abstractmethod
    def loss(self, translated: Predictions, own: Predictions) -> Tensor:
        """The sum over tokens (a scalar, in nats), from what the model says of the batch, or of the rows of
        it that the term has chosen, and what is said of the term's own rows.
        """
