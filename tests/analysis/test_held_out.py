"""Which rows of a probe are held out, and what is measured on them."""

import numpy as np
import pytest

from zsnmt.analysis.classifiers import LinearProbe
from zsnmt.analysis.held_out import accuracy, confusion, split_by_sentence
from zsnmt.errors import InputError

SENTENCES = np.repeat(np.arange(50), np.arange(50) % 7 + 1)  # one to seven tokens
NAMES = {2: "it", 0: "de", 1: "nl"}


@pytest.fixture
def probe() -> LinearProbe:
    """Of the classes 3, 5 and 8, of which 5 is the commonest."""
    return LinearProbe(np.array([3, 5, 8]), np.array([20, 50, 30]), np.zeros((3, 2)), np.zeros(3))


def test_a_sentence_is_on_one_side():
    training, held_out = split_by_sentence(SENTENCES)
    assert sorted([*training, *held_out]) == list(range(len(SENTENCES)))
    assert training.tolist() == sorted(training) and held_out.tolist() == sorted(held_out)
    sides = [set(SENTENCES[rows]) for rows in (training, held_out)]
    assert not sides[0] & sides[1] and [len(side) for side in sides] == [40, 10]


def test_translations_are_on_one_side():
    two_languages = np.concatenate([SENTENCES, SENTENCES[::2]])
    training, held_out = split_by_sentence(two_languages)
    assert not set(two_languages[training]) & set(two_languages[held_out])
    assert held_out.max() >= len(SENTENCES) > held_out.min()


def test_the_seed_decides_which_sentences():
    first, again, other = (split_by_sentence(SENTENCES, seed=seed).held_out.tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_a_seed_that_numpy_does_not_take_is_refused():
    with pytest.raises(InputError, match="a seed of -1 cannot be used; give 0 or more"):
        split_by_sentence(SENTENCES, seed=-1)


def test_accuracy_and_what_to_compare_it_with(probe):
    measured = accuracy(probe, np.array([3, 5, 5, 8, 7]), np.array([3, 5, 8, 5, 5]))
    assert measured.accuracy == 2 / 5
    assert measured.chance == 1 / 3
    assert measured.majority == 2 / 5  # of always answering 5
    assert (measured.rows, measured.unseen) == (5, 1)
    held_out = accuracy(probe, np.array([3, 3, 5]), np.array([3, 3, 3]))
    assert held_out.majority == 1 / 3  # of the class that is commonest in training, not among these


def test_confusion_is_normalised_over_the_true_class():
    labels = np.array([0, 0, 0, 0, 1, 1, 2])
    predicted = np.array([0, 0, 0, 2, 1, 0, 2])
    assert confusion(labels, predicted, {0: "de", 1: "nl", 2: "it"}).tolist() == [
        [0.75, 0, 0.25],
        [0.5, 0.5, 0],
        [0, 0, 1],
    ]


def test_confusion_has_the_order_of_the_names():
    labels, predicted = np.random.default_rng(1).integers(0, 3, (2, 200))
    shares, in_order = (
        confusion(labels, predicted, NAMES),
        confusion(labels, predicted, dict(sorted(NAMES.items()))),
    )
    assert np.array_equal(shares, in_order[np.ix_(list(NAMES), list(NAMES))])
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.array_equal(confusion(labels, labels, NAMES), np.eye(3))


def test_a_class_without_a_row_has_no_shares():
    shares = confusion(np.array([0, 1]), np.array([0, 2]), NAMES)  # it, de, nl
    assert np.isnan(shares[0]).all() and shares[1:].tolist() == [[0, 1, 0], [1, 0, 0]]


# Mistakes


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_side_without_a_sentence_is_refused(number):
    with pytest.raises(InputError, match=f"of {number} sentences held out leaves a side without any"):
        split_by_sentence(np.arange(number))


def test_predictions_that_are_not_of_these_labels_are_refused(probe):
    for labels, predicted in [([3, 5], [3]), ([], [])]:
        with pytest.raises(InputError, match="held-out labels and"):
            accuracy(probe, np.array(labels, int), np.array(predicted, int))


def test_a_class_without_a_name_is_refused():
    for labels, predicted in [([0, 7], [0, 0]), ([0, 0], [7, 0])]:
        with pytest.raises(InputError, match="class 7 has no name, only it, de, nl"):
            confusion(np.array(labels), np.array(predicted), NAMES)
