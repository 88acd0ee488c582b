"""Held-out rows of a probe: how they are chosen, and what is measured on them."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from sklearn.metrics import confusion_matrix

from zsnmt.analysis.classifiers import LinearProbe
from zsnmt.errors import InputError

SHARE = 0.2  # of sentences that are held out


class Split(NamedTuple):
    """Row numbers to train a probe on and to measure it on, ascending."""

    training: np.ndarray
    held_out: np.ndarray


class Accuracy(NamedTuple):
    """How often a probe is right, and what that is to be compared with; shares are 0–1.

    `accuracy`: rows predicted right / rows; `chance`: 1 / classes seen in training; `majority`: the accuracy
    of answering the commonest class of training always; `rows`: held-out rows; `unseen`: those whose class
    has no training row. They count, and are always wrong.
    """

    accuracy: float
    chance: float
    majority: float
    rows: int
    unseen: int


def split_by_sentence(sentences: np.ndarray, seed: int = 1) -> Split:
    """A `SHARE` of the sentences held out at random; all rows of a sentence are on one side.

    `sentences`: N integers, the sentence of each row. Give translations the same number, so that they too are
    on one side. Raises `InputError` for a seed below 0, and if a side would have no sentence.
    """
    if seed < 0:
        raise InputError(f"a seed of {seed} cannot be used; give 0 or more")
    numbers = np.unique(sentences)
    count = round(SHARE * len(numbers))
    if not 0 < count < len(numbers):
        raise InputError(
            f"{SHARE:g} of {len(numbers)} sentences held out leaves a side without any; take more sentences"
        )
    chosen = np.random.default_rng(seed).permutation(numbers)[:count]
    held_out = np.isin(sentences, chosen)
    return Split(np.flatnonzero(~held_out), np.flatnonzero(held_out))


def accuracy(probe: LinearProbe, labels: np.ndarray, predicted: np.ndarray) -> Accuracy:
    """Of the probe's predictions for held-out rows with these labels; `InputError` if there is none."""
    labels = np.asarray(labels)
    if labels.shape != predicted.shape or not len(labels):
        raise InputError(
            f"{len(labels)} held-out labels and {len(predicted)} predictions; give one or more of each"
        )
    majority = probe.classes[probe.counts.argmax()]
    return Accuracy(
        accuracy=float((labels == predicted).mean()),
        chance=1 / len(probe.classes),
        majority=float((labels == majority).mean()),
        rows=len(labels),
        unseen=int(np.isin(labels, probe.classes, invert=True).sum()),
    )


def confusion(labels: np.ndarray, predicted: np.ndarray, names: Mapping[int, str]) -> np.ndarray:
    """C×C shares 0–1: of the rows truly of the class of a line, those predicted as the class of each column.

    `names`: the classes and what they are called, in the order of lines and columns; for few classes. A line
    sums to 1, or is NaN if its class has no row. Raises `InputError` for a label or prediction without a
    name.
    """
    if nameless := set(np.unique(np.concatenate([labels, predicted])).tolist()) - set(names):
        raise InputError(
            f"class {min(nameless)} has no name, only {', '.join(names.values())}; name every class"
        )
    counts = confusion_matrix(labels, predicted, labels=list(names))
    with np.errstate(invalid="ignore"):
        return counts / counts.sum(axis=1, keepdims=True)
