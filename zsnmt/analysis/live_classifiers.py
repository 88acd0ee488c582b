"""Linear probes that are trained while the encoder runs: of every layer at once, and nothing on the disk.

The encoder reads each training sentence once an epoch, and all probes learn from its states. They are those
that `zsnmt.analysis.layer_classifiers` fits to stored states in batches of sentences: equal to the bit where
the states are, and these are but for the rounding of sums, as the encoder reads sentences in other company.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import torch
from tqdm import tqdm

from zsnmt.analysis.classifiers import (
    EPOCHS,
    PUBLISHED_BATCH,
    WARM_UP,
    Spans,
    Training,
    classes_of,
    most_updates,
    sentence_batches,
)
from zsnmt.analysis.layer_classifiers import (
    MeasuredProbe,
    batch_size,
    check_other_text,
    measure_probe,
    sentence_numbers,
)
from zsnmt.analysis.state_folder import Labels
from zsnmt.errors import InputError


class LiveStates(NamedTuple):
    """States that an encoder makes when they are asked for.

    `read` gives, for numbers of sentences, ascending and counted through all languages, the states of their
    rows in each layer of the `record`, rows × d; `labels` are those of all rows; `record` is what states.json
    would say.
    """

    labels: Labels
    record: dict
    read: Callable[[np.ndarray], list[torch.Tensor]]


def classify_while_running(
    training: LiveStates, held_out: LiveStates, *, labels: Sequence[str], seed: int
) -> Iterator[MeasuredProbe]:
    """A published probe for each layer and label, measured on the held-out text.

    Raises `InputError` for two texts that are the same, for states that are not finite, and for labels that
    no probe can be fitted to.
    """
    check_other_text(training.record, held_out.record, "training and held-out states")
    layers = training.record["layers"]
    probes = {
        key: learner.probe() for key, learner in train_probes(training, layers, labels, seed=seed).items()
    }
    sentences = Spans.from_sentences(sentence_numbers(held_out.labels))
    found: dict[tuple[str, str], list[np.ndarray]] = {key: [] for key in probes}
    for chosen in ordered_batches(sentences.lengths, PUBLISHED_BATCH):
        for layer, states in zip(layers, held_out.read(chosen)):
            rows = states.cpu().numpy()
            for label in labels:
                found[layer, label].append(probes[layer, label].predict(rows))
    for (layer, label), probe in probes.items():
        predicted = np.concatenate(found[layer, label])
        yield measure_probe(layer, label, held_out.labels, probe=probe, predicted=predicted)


def train_probes(
    text: LiveStates, layers: Sequence[str], labels: Sequence[str], seed: int
) -> dict[tuple[str, str], Training]:
    """The probes of each layer and label, trained on a text."""
    sentences = Spans.from_sentences(sentence_numbers(text.labels))
    rows, dimension = len(text.labels.token), text.record["dimension"]
    size = batch_size(rows)
    most = most_updates(rows, EPOCHS, size, warm_up=WARM_UP, spans=sentences)
    classes = {label: classes_of(getattr(text.labels, label)) for label in labels}
    device = text.read(np.array([0]))[0].device
    learners = {
        (layer, label): Training(
            *classes[label],
            dimension=dimension,
            warm_up=WARM_UP,
            generator=torch.Generator().manual_seed(seed),
            device=device,
        )
        for layer, label in product(layers, labels)
    }
    batches = sentence_batches(sentences.lengths, EPOCHS, size, seed=seed)
    for chosen in tqdm(batches, "updates", most, leave=False, disable=None):
        batch = sentences.rows(chosen)
        for layer, states in zip(layers, text.read(chosen)):
            if not states.isfinite().all():
                raise InputError(f"layer {layer}: a state is not finite; run the model in full precision")
            for label in labels:
                learners[layer, label].update(batch, states.__getitem__)
    return learners


def ordered_batches(lengths: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """All sentences in order, some at a time: about as many as have `size` rows."""
    cuts = np.flatnonzero(np.diff(np.cumsum(lengths) // size)) + 1
    yield from tqdm(np.split(np.arange(len(lengths)), cuts), "measuring", leave=False, disable=None)
