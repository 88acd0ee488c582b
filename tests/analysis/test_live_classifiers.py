"""Classifiers that learn while the encoder runs are those of stored states in batches of sentences."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.analysis.test_probe_scripts import LANGUAGES, LAYERS, make_states
from zsnmt.analysis import layer_classifiers
from zsnmt.analysis.classifiers import Spans, fit_as_published, sentence_batches
from zsnmt.analysis.layer_classifiers import Side, classify_layers, sentence_numbers
from zsnmt.analysis.live_classifiers import LiveStates, classify_while_running, train_probes
from zsnmt.analysis.state_folder import SENTENCES, layer_file, read_states
from zsnmt.cli import probe_classifiers
from zsnmt.errors import InputError

WANTED = ["language", "position"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("states")
    return {
        "training": make_states(base / "training", seed=1, sentences=6),
        "held_out": make_states(base / "held_out", seed=2, sentences=4),
    }


def live(folder: Path) -> LiveStates:
    """States that are read from a folder as an encoder would make them: sentence by sentence."""
    states = read_states(folder)
    sentences = Spans.from_sentences(sentence_numbers(states.labels))

    def read(chosen: np.ndarray) -> list[torch.Tensor]:
        return [torch.from_numpy(np.array(each[sentences.rows(chosen)])) for each in states.layers.values()]

    return LiveStates(states.labels, states.record, read)


@pytest.fixture
def few_updates(monkeypatch):
    """Batches of several sentences, of which small text would make too few updates otherwise."""
    monkeypatch.setattr(layer_classifiers, "UPDATES", 20)


def test_they_are_equal_to_the_bit_where_the_states_are(folders, few_updates):
    training, held_out = map(live, folders.values())
    learners = train_probes(training, LAYERS, WANTED, seed=3)
    states = read_states(folders["training"])
    numbers = sentence_numbers(states.labels)
    size = layer_classifiers.batch_size(len(numbers))
    assert 1 < size < len(numbers) / 3
    for (layer, label), learner in learners.items():
        stored = fit_as_published(
            states.layers[layer],
            getattr(states.labels, label),
            batch_size=size,
            seed=3,
            sentences=numbers,
        )
        for name, value in vars(learner.probe()).items():
            np.testing.assert_array_equal(value, getattr(stored, name))
    sides = [Side(each, np.arange(len(each.labels.token))) for each in map(read_states, folders.values())]
    stored = classify_layers(*sides, kind="published", labels=WANTED, seed=3, batches=SENTENCES)
    found = classify_while_running(training, held_out, labels=WANTED, seed=3)
    for one, other in zip(found, stored, strict=True):
        assert one[:3] == other[:3]
        if one.label == "language":
            np.testing.assert_array_equal(one.confusion, other.confusion)


def test_batches_hold_whole_sentences_each_once_an_epoch_in_another_order():
    lengths = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    epochs = [[], []]
    batches = sentence_batches(lengths, 2, 7, seed=1)
    for epoch in epochs:
        while sum(map(len, epoch)) < len(lengths):
            epoch.append(next(batches).tolist())
    assert not [*batches]
    for epoch in epochs:
        assert sorted(sum(epoch, [])) == [*range(len(lengths))]
        assert all(batch == sorted(batch) for batch in epoch)
        assert all(sum(lengths[batch]) >= 7 for batch in epoch[:-1])
        assert all(sum(lengths[batch]) - max(lengths[batch]) < 7 for batch in epoch)
    assert epochs[0] != epochs[1] and epochs[0] == next_epoch(lengths, seed=1) != next_epoch(lengths, seed=2)


def next_epoch(lengths: np.ndarray, seed: int) -> list[list[int]]:
    return [batch.tolist() for batch in sentence_batches(lengths, 1, 7, seed)]


def test_the_rows_of_sentences_are_all_theirs_in_order():
    sentences = Spans.from_sentences(np.array([7, 7, 7, 8, 9, 9]))
    assert sentences.rows(np.array([0, 2])).tolist() == [0, 1, 2, 4, 5]
    assert sentences.rows(np.array([1])).tolist() == [3]


def test_each_update_reads_its_sentences_once_for_all_layers_and_labels(folders, few_updates):
    states, read = live(folders["training"]), []
    counted = states._replace(read=lambda chosen: read.append(chosen) or states.read(chosen))
    train_probes(counted, LAYERS, WANTED, seed=1)
    number = len(LANGUAGES) * 6
    assert np.bincount(np.concatenate(read[1:]), minlength=number).tolist() == [5] * number


def test_stored_states_can_be_put_into_batches_of_sentences(folders, tmp_path, few_updates):
    arguments = [folders["training"], tmp_path / "out.tsv", "--held-out", folders["held_out"]]
    arguments += ["--labels", *WANTED, "--seed", 3, "--batches", SENTENCES]
    probe_classifiers.main([*map(str, arguments)])
    rows = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()[1:]]
    found = classify_while_running(*map(live, folders.values()), labels=WANTED, seed=3)
    assert [float(row[2]) for row in rows] == [each.accuracy.accuracy for each in found]


def test_an_exact_fit_has_no_batches(folders):
    states = read_states(folders["training"])
    side = Side(states, np.arange(len(states.labels.token)))
    with pytest.raises(InputError, match="not of batches; leave out --batches sentences"):
        next(classify_layers(side, side, kind="exact", labels=["language"], seed=1, batches=SENTENCES))


def test_text_that_cannot_be_measured_on_and_states_that_are_not_finite_are_refused(folders, tmp_path):
    training, held_out = map(live, folders.values())
    with pytest.raises(InputError, match="training and held-out states are states of the same text"):
        [*classify_while_running(training, training, labels=WANTED, seed=1)]
    infinite = make_states(tmp_path / "infinite", seed=1, sentences=6)
    np.save(layer_file(infinite, "1"), np.full_like(np.load(layer_file(infinite, "1")), np.inf))
    with pytest.raises(InputError, match="layer 1: a state is not finite"):
        [*classify_while_running(live(infinite), held_out, labels=WANTED, seed=1)]
