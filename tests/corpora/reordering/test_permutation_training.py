"""Training of permutation models: the objective and its gradient, and what is learned."""

import math
import random
from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from tests.corpora.reordering.test_permutation_features import naive_features
from tests.support.trees import made_up_tree, projective_tree
from zsnmt.corpora.reordering.permutation_features import all_orders, n_grams
from zsnmt.corpora.reordering.permutation_model import log_probabilities
from zsnmt.corpora.reordering.permutation_training import (
    count_nodes,
    frequent_n_grams,
    learn_orders,
    likelihood,
    make_objective,
    train,
)
from zsnmt.errors import InputError

NODES = Counter(
    {
        ("DET&det", "ADJ&amod", "@NOUN&@"): 5,
        ("DET&det", "@NOUN&@", "ADJ&amod"): 2,
        ("ADJ&amod", "@NOUN&@"): 3,
        ("ADP&case", "ADJ&amod", "@NOUN&@", "ADJ&amod"): 4,  # a symbol twice
        ("ADP&case", "@NOUN&@", "ADJ&amod", "ADJ&amod"): 1,
    }
)


def naive_objective(theta: dict[str, float], l2: float) -> float:
    """The regularised negative log-likelihood over the n! orders, written out."""
    value = l2 / 2 * sum(weight**2 for weight in theta.values())
    for order, number in NODES.items():
        score = {
            other: sum(theta.get(name, 0) * n for name, n in naive_features(other).items())
            for other in permutations(order)
        }
        total = sum(math.exp(score[other]) for other in permutations(order))
        value -= number * (score[order] - math.log(total))
    return value


def test_the_objective_and_its_gradient_are_those_of_the_definition():
    features, objective = make_objective(NODES, l2=0.7)
    theta = np.random.default_rng(2).normal(size=len(features)) * 0.3
    value, gradient = objective(theta)
    assert value == pytest.approx(naive_objective(dict(zip(features, theta)), 0.7))
    assert gradient == pytest.approx(approx_fprime(theta, lambda at: objective(at)[0], 1e-6), abs=1e-4)


def test_features_are_those_of_all_orders_and_of_frequent_n_grams_only():
    features, _ = make_objective(NODES, 1.0)
    possible = {name for order in NODES for other in permutations(order) for name in naive_features(other)}
    assert len(features) == len(set(features))
    assert set(features) == {name for name in possible if not name.startswith("HI_")} | frequent_n_grams(
        NODES
    )


def test_a_tenth_of_the_types_of_n_grams_is_frequent():
    counted = Counter()
    for order, number in NODES.items():
        for name in n_grams(order):
            counted[name] += number
    frequent = frequent_n_grams(NODES)
    assert len(frequent) == math.ceil(len(counted) / 10)
    assert min(counted[name] for name in frequent) >= max(counted[name] for name in counted.keys() - frequent)


def test_with_a_weak_regulariser_orders_become_as_likely_as_they_are_frequent():
    nodes = Counter({order: number for order, number in NODES.items() if len(order) == 3})
    probabilities = np.exp(log_probabilities(("@NOUN&@", "ADJ&amod", "DET&det"), train(nodes, l2=1e-4)))
    by_order = {tuple(order): probability for order, probability in zip(all_orders(3).orders, probabilities)}
    assert by_order[2, 1, 0] == pytest.approx(5 / 7, abs=0.01) and by_order[2, 0, 1] == pytest.approx(
        2 / 7, abs=0.01
    )


def test_a_strong_regulariser_leaves_all_orders_alike():
    found = likelihood(NODES, train(NODES, l2=1e6))
    assert found.model == pytest.approx(found.uniform, abs=1e-3)


def test_the_likelihood_is_that_of_strings_and_no_weights_are_uniform():
    """Two equal symbols make 12 strings of 24 orders; the probabilities of strings sum to 1."""
    weights = train(NODES)
    strings = sorted(set(permutations(("ADP&case", "ADJ&amod", "@NOUN&@", "ADJ&amod"))))
    assert len(strings) == 12
    logarithms = [likelihood(Counter([string]), weights).model for string in strings]
    assert sum(map(math.exp, logarithms)) == pytest.approx(1)
    found = likelihood(Counter(strings), {})
    assert found.nodes == 12 and found.model == pytest.approx(found.uniform) == pytest.approx(-math.log(12))
    assert likelihood(NODES, weights).model > likelihood(NODES, {}).model


def test_training_learns_the_weights_that_orders_were_drawn_with():
    generator = np.random.default_rng(5)
    true = {"PRE_DET&det_@NOUN&@": 1.5, "AFT_ADJ&amod_ADP&case": -1.0, "BI_ADJ_@NOUN": 0.8}
    items = ("@NOUN&@", "ADJ&amod", "ADP&case", "DET&det")
    logarithms = log_probabilities(items, true)
    rows = generator.choice(len(logarithms), 20000, p=np.exp(logarithms))
    nodes = Counter(tuple(items[item] for item in all_orders(4).orders[row]) for row in rows)
    assert np.exp(log_probabilities(items, train(nodes))) == pytest.approx(np.exp(logarithms), abs=0.012)


def test_nodes_are_noun_and_verb_heads_of_projective_trees_with_2_to_6_symbols():
    generator = random.Random(4)
    flat = {
        children: made_up_tree([None, *[0] * children])._replace(upos=("PRON", *["X"] * children))
        for children in (0, 1, 5, 6)
    }
    crossing = made_up_tree([2, 3, None, 2], generator)
    adjective = flat[1]._replace(upos=("ADJ", "X"))
    nodes, counts = count_nodes([*flat.values(), crossing, adjective])
    assert counts == {"read": 6, "non_projective": 1}
    assert nodes["N"] == {("@PRON&@", "X&dep"): 1, ("@PRON&@", *["X&dep"] * 5): 1} and not nodes["V"]
    trees = [projective_tree(7, generator) for _ in range(30)]
    nodes, _ = count_nodes(trees)
    heads = Counter(
        tree.upos[head] for tree in trees for head in set(tree.heads) - {None} if tree.heads.count(head) <= 5
    )
    assert nodes["V"].total() == heads["VERB"] and nodes["N"].total() == heads["NOUN"] + heads["PROPN"]


@pytest.mark.parametrize("l2", [0, -1, math.nan, math.inf])
def test_a_regulariser_that_is_not_positive_is_refused(l2):
    with pytest.raises(
        InputError, match="cannot be used: rare features would weigh without bound; give a positive one"
    ):
        train(NODES, l2)


def test_a_model_without_a_name_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(InputError, match="'.' does not name a model; give a name, as in models/fi"):
        learn_orders([tmp_path / "missing.conllu"], Path("."))


def test_no_nodes_are_refused():
    with pytest.raises(
        InputError, match="xx@V: no head has 1 to 5 children, so there is no order to learn; give more trees"
    ):
        train(Counter(), title="xx@V")
