"""Linear probes of every layer of a folder of states: fitted on some of its rows or texts, measured on
others.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from zsnmt.analysis.classifiers import (
    EPOCHS,
    PUBLISHED_BATCH,
    LinearProbe,
    fit_as_published,
    fit_to_convergence,
)
from zsnmt.analysis.held_out import Accuracy, accuracy, confusion, split_by_sentence
from zsnmt.analysis.state_folder import EXACT, ROWS, SENTENCES, Labels, States, read_states
from zsnmt.errors import InputError

UPDATES = 4000  # of the published procedure, about, where batches are not too large for it


class Side(NamedTuple):
    """The rows of a folder of states to train on, or to measure on."""

    states: States
    rows: np.ndarray


class MeasuredProbe(NamedTuple):
    """How well a label is predicted from a layer; of languages also the shares 0–1 by true and predicted
    one.
    """

    layer: str
    label: str
    accuracy: Accuracy
    confusion: np.ndarray | None


def sides(folder: Path, held_out: Path | None, seed: int) -> tuple[Side, Side]:
    """What to train on and what to measure on: two folders, or the sentences of one in two parts.

    Raises `InputError` for folders that cannot be compared, and for two of the same text.
    """
    states = read_states(folder)
    if held_out is None:
        split = split_by_sentence(states.labels.sentence, seed=seed)
        return Side(states, split.training), Side(states, split.held_out)
    other = read_states(held_out)
    for key in ("model", "target", "layers", "languages"):
        if (one := states.record.get(key)) != (two := other.record.get(key)):
            raise InputError(
                f"{folder} and {held_out} differ in {key} ({one} and {two}); make both alike with "
                "zsnmt probe-states"
            )
    check_other_text(states.record, other.record, f"{folder} and {held_out}")
    training, measured = (Side(each, np.arange(len(each.labels.token))) for each in (states, other))
    return training, measured


def check_other_text(training: Mapping, held_out: Mapping, names: str) -> None:
    """`InputError` where what is measured on is what was trained on, by the records of both."""
    if training["text"] == held_out["text"]:
        raise InputError(f"{names} are states of the same text; give states of another text to measure on")


def classify_layers(
    training: Side, held_out: Side, *, kind: str, labels: Sequence[str], seed: int, batches: str = ROWS
) -> Iterator[MeasuredProbe]:
    """A probe for each layer and label, measured on the held-out rows; `kind` and `batches` as for `fit`.

    Raises `InputError` for batches of sentences where the fit is exact, which has no batches, and, with layer
    and label, for states that no probe can be fitted to.
    """
    if kind == EXACT and batches == SENTENCES:
        raise InputError("an exact fit is of all rows at once, not of batches; leave out --batches sentences")
    sentences = sentence_numbers(training.states.labels) if batches == SENTENCES else None
    pairs = [*itertools.product(training.states.layers, labels)]
    for layer, label in tqdm(pairs, "layers and labels", leave=False, disable=None):
        classes = getattr(training.states.labels, label)
        try:
            probe = fit(
                kind,
                training.states.layers[layer],
                classes,
                rows=training.rows,
                seed=seed,
                sentences=sentences,
            )
            predicted = probe.predict(held_out.states.layers[layer], held_out.rows)
        except InputError as error:
            raise InputError(f"layer {layer}, {label}: {error}") from error
        yield measure_probe(
            layer, label, held_out.states.labels, probe=probe, predicted=predicted, rows=held_out.rows
        )


def measure_probe(
    layer: str,
    label: str,
    labels: Labels,
    *,
    probe: LinearProbe,
    predicted: np.ndarray,
    rows: np.ndarray | slice = slice(None),
) -> MeasuredProbe:
    """What a probe's predictions of held-out rows are worth."""
    true = getattr(labels, label)[rows]
    confused = confusion(true, predicted, dict(enumerate(labels.languages))) if label == "language" else None
    return MeasuredProbe(layer, label, accuracy(probe, true, predicted), confusion=confused)


def fit(
    kind: str,
    states: np.ndarray,
    labels: np.ndarray,
    rows: np.ndarray,
    seed: int,
    sentences: np.ndarray | None = None,
) -> LinearProbe:
    """A probe of one layer's states N×d: `published`, as Liu et al. (2021) fit theirs, or `exact`, to
    convergence; `sentences` as for `fit_as_published`.
    """
    if kind == EXACT:
        return fit_to_convergence(states, labels, rows)
    size = batch_size(len(rows))
    return fit_as_published(states, labels, rows, batch_size=size, seed=seed, sentences=sentences)


def batch_size(rows: int) -> int:
    """The rows of a batch of the published procedure: theirs, or fewer, for about `UPDATES` updates."""
    return max(1, min(PUBLISHED_BATCH, EPOCHS * rows // UPDATES))


def sentence_numbers(labels: Labels) -> np.ndarray:
    """The number of each row's sentence, counted through all languages from 0."""
    return np.cumsum(labels.position == 0) - 1
