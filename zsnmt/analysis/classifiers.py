"""Linear probes: what a single linear layer can tell of a token from its encoder state.

States are N×d, one row per token, an array or a memory map: rows are read in blocks, in float32, and never
all at once unless a function says so. Labels are N integers, of any values: language, token id, position.
`rows` are the row numbers to use, all of them by default.
"""

import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.nn import functional as F
from tqdm import tqdm

from zsnmt.errors import InputError

PUBLISHED_BATCH = 24_568  # words per update of Liu et al.'s published code
EPOCHS, WARM_UP = 5, 400  # of the same; the warm-up in updates
MOST_ITERATIONS = 1000
MOST_CELLS_AT_ONCE = 2**24  # rows × (classes or dimensions) of one block: 64 MiB in float32
MOST_CELLS_OF_EXACT_FIT = 2**25  # rows × classes, of which scikit-learn holds several arrays of 128 MiB

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LinearProbe:
    """A fitted layer: the class with the highest `weight @ state + bias` is predicted, the first of equals.

    `classes`: C, the labels seen in training, ascending; `counts`: C, their training rows; `weight`: C×d,
    `bias`: C.
    """

    classes: np.ndarray
    counts: np.ndarray
    weight: np.ndarray
    bias: np.ndarray

    def predict(self, states: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """The predicted label of each row, in the order of `rows`."""
        if states.ndim != 2 or states.shape[1] != self.weight.shape[1]:
            raise InputError(
                f"the probe reads states of N×{self.weight.shape[1]}, not of shape {states.shape}"
            )
        rows = np.arange(len(states)) if rows is None else np.asarray(rows)
        predicted = [
            (read_finite(states, block) @ self.weight.T + self.bias).argmax(axis=1)
            for block in blocks(rows, max(self.weight.shape))
        ]
        return self.classes[np.concatenate(predicted)] if predicted else self.classes[:0]


class Training:
    """A probe that is trained by the procedure of Liu et al. (2021, section 5.1, and their published code),
    one update after another.

    Softmax cross-entropy, Adam (0.9, 0.98), the learning rate of `noam`; the weight starts uniform in ±1/√d,
    the bias at 0. `targets`: the index of each training row's class. Memory does not grow with the classes
    but for the layer itself.
    """

    def __init__(
        self,
        targets: np.ndarray,
        classes: np.ndarray,
        counts: np.ndarray,
        *,
        dimension: int,
        warm_up: int,
        generator: torch.Generator,
        device: str | torch.device = "cpu",
    ) -> None:
        self.targets, self.classes, self.counts = targets, classes, counts
        self.dimension, self.warm_up, self.updates = dimension, warm_up, 0
        self.layer = initial_layer(dimension, len(classes), generator).to(device)
        self.optimiser = torch.optim.Adam(self.layer.parameters(), betas=(0.9, 0.98), eps=1e-9)

    def update(self, batch: np.ndarray, read: Callable[[slice], torch.Tensor]) -> None:
        """Learn from training rows: their numbers, and what reads the states of some places in the batch."""
        self.updates += 1
        self.optimiser.param_groups[0]["lr"] = noam(self.updates, self.dimension, self.warm_up)
        self.optimiser.zero_grad()
        size = block_size(max(len(self.classes), self.dimension))
        for start in range(0, len(batch), size):
            part = slice(start, start + size)
            logits = self.layer(read(part))
            targets = torch.from_numpy(self.targets[batch[part]]).to(logits.device)
            (F.cross_entropy(logits, targets, reduction="sum") / len(batch)).backward()
        self.optimiser.step()

    def probe(self) -> LinearProbe:
        """What is learned."""
        weight, bias = (parameter.detach().cpu().numpy() for parameter in self.layer.parameters())
        return LinearProbe(self.classes, self.counts, weight, bias=bias)


def fit_as_published(
    states: np.ndarray,
    labels: np.ndarray,
    rows: np.ndarray | None = None,
    epochs: int = EPOCHS,
    batch_size: int = PUBLISHED_BATCH,
    warm_up: int = WARM_UP,
    seed: int = 1,
    sentences: np.ndarray | None = None,
) -> LinearProbe:
    """A probe by the procedure of Liu et al. (2021), see `Training`, of shuffled rows in batches of
    `batch_size`.

    With `sentences`, N integers that tell which rows are of one sentence, whole sentences are shuffled, as
    they do, and a batch is full with the sentence that gives it `batch_size` rows. There, five epochs are
    thousands of updates: with few rows take smaller batches, or the learning rate does not get past its
    warm-up, of which a warning tells. It differs in that the states have no dropout, and that classes without
    a training row have no output. Raises `InputError` for states and labels that cannot be fitted.
    """
    rows, *classes = training_rows(states, labels, rows)
    spans = None if sentences is None else Spans.from_sentences(sentences[rows])
    most = most_updates(len(rows), epochs, batch_size, warm_up=warm_up, spans=spans)
    generator = torch.Generator().manual_seed(seed)
    training = Training(*classes, dimension=states.shape[1], warm_up=warm_up, generator=generator)
    if spans is None:
        batches = shuffled_batches(len(rows), epochs, batch_size, generator=generator)
    else:
        batches = map(spans.rows, sentence_batches(spans.lengths, epochs, batch_size, seed=seed))
    for batch in tqdm(batches, "probe", most, leave=False, disable=None):
        training.update(batch, lambda part: torch.from_numpy(read_finite(states, rows[batch[part]])))
    return training.probe()


def most_updates(
    rows: int, epochs: int, batch_size: int, *, warm_up: int, spans: "Spans | None" = None
) -> int:
    """How many updates a training on shuffled rows has, or at most has on whole sentences, of which a batch
    holds one or more; a warning where they are too few. `InputError` for settings below 1.
    """
    if min(epochs, batch_size, warm_up) < 1:
        raise InputError(
            f"{epochs} epochs, batches of {batch_size}, {warm_up} updates of warm-up: each must be at least 1"
        )
    of_epoch = -(-rows // batch_size)
    updates = epochs * (of_epoch if spans is None else min(of_epoch, len(spans.lengths)))
    if updates < warm_up:
        logger.warning(
            "%d updates end within the warm-up of %d: the probe is trained too little, take more text, a "
            "smaller batch size than %d or more epochs than %d",
            updates,
            warm_up,
            batch_size,
            epochs,
        )
    return updates


def fit_to_convergence(
    states: np.ndarray, labels: np.ndarray, rows: np.ndarray | None = None, l2: float = 1.0
) -> LinearProbe:
    """The one probe that minimises `Σ cross-entropy + l2/2 · ‖weight‖²` over standardised states, by L-BFGS.

    Standardised: each dimension has mean 0 and deviation 1 over the training rows. Converged: no derivative
    of the mean over the rows is larger than 1e-4, scikit-learn's default; a warning tells of a fit that
    stopped before. Holds a copy of the training rows in float32. Raises `InputError` for states and labels
    that cannot be fitted, and for more rows × classes than `MOST_CELLS_OF_EXACT_FIT`.
    """
    rows, targets, classes, counts = training_rows(states, labels, rows)
    if not l2 > 0:  # which no NaN is
        raise InputError(
            f"l2 is {l2}, but only a positive strength makes one probe the best; the default is 1"
        )
    if len(rows) * len(classes) > MOST_CELLS_OF_EXACT_FIT:
        raise InputError(
            f"{len(rows)} rows × {len(classes)} classes are too many for an exact fit; take at most "
            f"{MOST_CELLS_OF_EXACT_FIT // len(classes)} rows, or the published procedure with small batches"
        )
    scaler = StandardScaler(copy=False)
    for block in blocks(rows, states.shape[1]):  # of all at once it would make copies in double precision
        scaler.partial_fit(read_finite(states, block))
    standardised = scaler.transform(read_finite(states, rows))
    # of two classes scikit-learn fits the difference w of the rows ±w/2, whose ‖weight‖² is half of ‖w‖²
    strength = l2 / 2 if len(classes) == 2 else l2
    with warnings.catch_warnings(record=True) as warned:
        model = LogisticRegression(C=1 / strength, max_iter=MOST_ITERATIONS).fit(standardised, targets)
    if warned:
        reason = str(warned[0].message).split("\n")[0].rstrip(":.")
        logger.warning("the probe is not the exact one (%s): take a larger l2 than %g", reason, l2)
    weight, bias = model.coef_, model.intercept_
    if len(classes) == 2:
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    weight = weight / scaler.scale_
    return LinearProbe(
        classes, counts, weight.astype(np.float32), bias=(bias - weight @ scaler.mean_).astype(np.float32)
    )


def initial_layer(dimension: int, classes: int, generator: torch.Generator) -> nn.Linear:
    """Weight uniform in ±1/√d, bias 0."""
    layer = nn.utils.skip_init(nn.Linear, dimension, classes)  # the usual way draws from the global generator
    nn.init.uniform_(layer.weight, -(dimension**-0.5), dimension**-0.5, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def noam(update: int, dimension: int, warm_up: int) -> float:
    """Learning rate of an update, counted from 1: it rises over `warm_up` updates, then falls with their
    square root.
    """
    return 2 * dimension**-0.5 * min(update**-0.5, update * warm_up**-1.5)


def shuffled_batches(rows: int, epochs: int, size: int, generator: torch.Generator) -> Iterator[np.ndarray]:
    """Indices of `rows` rows, each once an epoch; ascending within a batch, as a disk reads fastest."""
    for _ in range(epochs):
        order = torch.randperm(rows, generator=generator).numpy()
        yield from (np.sort(order[start : start + size]) for start in range(0, rows, size))


class Spans(NamedTuple):
    """Rows that belong together, one sentence's after another's: the first row and the number of rows of
    each.
    """

    starts: np.ndarray
    lengths: np.ndarray

    @classmethod
    def from_sentences(cls, sentences: np.ndarray) -> "Spans":
        """Of the number of each row's sentence; rows of one sentence stand together."""
        starts = np.flatnonzero(np.diff(sentences, prepend=sentences[0] - 1))
        return cls(starts, np.diff(starts, append=len(sentences)))

    def rows(self, chosen: np.ndarray) -> np.ndarray:
        """The rows of chosen sentences, in their order."""
        lengths = self.lengths[chosen]
        before = np.cumsum(lengths) - lengths
        return np.arange(lengths.sum()) + np.repeat(self.starts[chosen] - before, lengths)


def sentence_batches(lengths: np.ndarray, epochs: int, size: int, seed: int) -> Iterator[np.ndarray]:
    """Numbers of sentences, each once an epoch; ascending within a batch, which ends with the sentence that
    gives it `size` rows.
    """
    generator = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        order = torch.randperm(len(lengths), generator=generator).numpy()
        ends, first = np.cumsum(lengths[order]), 0
        while first < len(order):
            last = np.searchsorted(ends, ends[first] - lengths[order[first]] + size) + 1
            yield np.sort(order[first:last])
            first = last


def training_rows(
    states: np.ndarray, labels: np.ndarray, rows: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Row numbers, the index of each one's class, the classes, and the rows of each; `InputError` if unfit
    to train on.
    """
    labels = np.asarray(labels)
    if states.ndim != 2 or labels.shape != (len(states),) or not np.issubdtype(labels.dtype, np.integer):
        raise InputError(
            f"a probe needs N×d states and N integer labels, not shapes {states.shape} and "
            f"{labels.shape} and labels of type {labels.dtype}"
        )
    rows = np.arange(len(labels)) if rows is None else np.asarray(rows)
    return rows, *classes_of(labels[rows])


def classes_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The index of each row's class, the classes, and the rows of each; `InputError` for fewer than two."""
    classes, targets, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise InputError(
            f"the {len(labels)} training rows have {len(classes)} class(es); a probe needs two or more"
        )
    return targets, classes, counts


def read_finite(states: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The states of `rows` in float32, in memory; `InputError` if one of them is not finite."""
    block = np.asarray(states[rows], dtype=np.float32)
    if not np.isfinite(block).all():
        row = rows[~np.isfinite(block).all(axis=1)][0]
        raise InputError(f"the state of row {row} is not finite; make the states again, in full precision")
    return block


def blocks(rows: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """The rows in blocks of at most `MOST_CELLS_AT_ONCE` cells of that width, at least a row each."""
    size = block_size(width)
    yield from (rows[start : start + size] for start in range(0, len(rows), size))


def block_size(width: int) -> int:
    """How many rows of so many cells are a block."""
    return max(1, MOST_CELLS_AT_ONCE // width)
