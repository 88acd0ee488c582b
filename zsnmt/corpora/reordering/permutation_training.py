"""Training of permutation models on a treebank: regularised conditional maximum likelihood, without
approximation.

The weights θ of a kind of head minimise, with L-BFGS,

    - Σ log p(order | its symbols)  +  λ/2 ‖θ‖²    over all nodes with 2 to 6 symbols, the head's included

and p is normalised over all n! orders. All nodes with the same symbols have one normaliser. For M such groups
of n symbols and the C patterns of n symbols, the weights of patterns (M×C, from θ) times the table of counts
(C×n!) are all scores, and the gradient goes the same way back.
"""

import logging
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from tqdm import tqdm

from zsnmt.corpora.reordering.defaults import L2
from zsnmt.corpora.reordering.dependency_trees import Tree, is_projective, local_orders, read_trees
from zsnmt.corpora.reordering.permutation_features import (
    HEADS,
    all_orders,
    count_matrix,
    feature_names,
    n_grams,
    places_of,
    symbols,
)
from zsnmt.corpora.reordering.permutation_model import (
    KINDS,
    Weights,
    identical_orders,
    items_of,
    log_probabilities,
    model_files,
    row_of,
    write_model,
)
from zsnmt.errors import InputError
from zsnmt.processes import progress

logger = logging.getLogger(__name__)

SMALLEST, LARGEST = 2, 6  # symbols of a node
FREQUENT = 0.1  # of the types of n-grams

Nodes = Counter[tuple[str, ...]]  # how often each order of symbols occurs


class Likelihood(NamedTuple):
    """Log-likelihood (natural logarithm) of a node, on average: by a model, and with all its orders
    equally likely.
    """

    nodes: int
    model: float
    uniform: float


class Groups(NamedTuple):
    """M groups of nodes of n symbols: features of patterns (C·M×F), nodes by order (n!×M), patterns of
    orders (n!×C).
    """

    gather: csr_array
    nodes: csr_array
    counts: csr_array


class Learned(NamedTuple):
    """How well a model of one kind of head explains a set of trees: those it was learned from, or others."""

    set: str
    trees: int
    non_projective: int
    heads: str
    nodes: int
    features: int
    log_likelihood: float
    uniform: float


def learn_orders(
    trees: Sequence[Path], output: Path, held_out: Sequence[Path] = (), l2: float = L2
) -> list[Learned]:
    """Write the models of noun and verb heads that CoNLL-U files give, MODEL@N.orm and MODEL@V.orm for
    `output` MODEL.

    Raises `InputError` where `read_trees` and `train` do, and for a MODEL without a name.
    """
    model_files(output)  # which says at once if it has none
    sets = {name: files for name, files in (("train", trees), ("held_out", held_out)) if files}
    nodes, counts = {}, {}
    for name, files in sets.items():
        all_trees = (tree for file in files for tree in read_trees(file))
        nodes[name], counts[name] = count_nodes(progress(all_trees, "reading", unit=" trees"))
    model = {kind: train(nodes["train"][kind], l2, f"model {kind} of {output}") for kind in KINDS}
    write_model(model, output)
    rows = []
    for name in sets:
        for kind in KINDS:
            fit = likelihood(nodes[name][kind], model[kind])
            trees_read, left_out = counts[name]["read"], counts[name]["non_projective"]
            rows.append(
                Learned(
                    name,
                    trees_read,
                    left_out,
                    heads=kind,
                    nodes=fit.nodes,
                    features=len(model[kind]),
                    log_likelihood=fit.model,
                    uniform=fit.uniform,
                )
            )
    return rows


def count_nodes(trees: Iterable[Tree]) -> tuple[dict[str, Nodes], Counter[str]]:
    """The orders to learn from, by kind of head, and how many trees are `read` and, left out,
    `non_projective`.
    """
    nodes: dict[str, Nodes] = {kind: Counter() for kind in KINDS}
    counts = Counter(read=0, non_projective=0)
    for tree in trees:
        counts["read"] += 1
        if not is_projective(tree.heads):
            counts["non_projective"] += 1
            continue
        for head, words in enumerate(local_orders(tree.heads)):
            if tree.upos[head] in HEADS and SMALLEST <= len(words) <= LARGEST:
                nodes[HEADS[tree.upos[head]]][symbols(tree, head, words)] += 1
    return nodes, counts


def train(nodes: Nodes, l2: float = L2, title: str = "training") -> Weights:
    """The weights that maximise the likelihood of the nodes, with the regulariser λ = `l2`.

    Raises `InputError` where there are no nodes, and for a regulariser that is not positive.
    """
    if not nodes:
        raise InputError(
            f"{title}: no head has 1 to {LARGEST - 1} children, so there is no order to learn; give more "
            "trees"
        )
    if not 0 < l2 < math.inf:
        raise InputError(
            f"a regulariser of {l2} cannot be used: rare features would weigh without bound; give a "
            "positive one"
        )
    features, objective = make_objective(nodes, l2)
    with tqdm(desc=title, unit=" iterations", leave=False, disable=None) as bar:
        found = minimize(
            objective,
            np.zeros(len(features)),
            jac=True,
            method="L-BFGS-B",
            callback=lambda _: bar.update(),
            options={"maxiter": 1000, "maxfun": 2000, "ftol": 1e-7},
        )
    if not found.success:
        logger.warning("%s: stopped before the maximum (%s)", title, found.message)
    return dict(zip(features, found.x.tolist()))


def make_objective(nodes: Nodes, l2: float) -> tuple[list[str], Callable]:
    """The F features of all orders of the nodes, and what is minimised: a function of θ (F) with its
    gradient (F).
    """
    known_n_grams = frequent_n_grams(nodes)
    features: dict[str, int] = {}
    by_size: dict[int, dict[tuple[str, ...], Counter[int]]] = defaultdict(dict)
    for items, orders in groups_of(nodes).items():
        by_size[len(items)][items] = orders
    places = {
        size: places_of(
            (column * len(groups) + number, features.setdefault(name, len(features)))
            for number, items in enumerate(groups)
            for column, name in feature_names(items)
            if not name.startswith("HI_") or name in known_n_grams
        )
        for size, groups in by_size.items()
    }
    tables = []
    for size, groups in by_size.items():
        counts = all_orders(size).counts
        gather = count_matrix(places.pop(size), (counts.shape[1] * len(groups), len(features)))
        rows = places_of(
            (row, number) for number, orders in enumerate(groups.values()) for row in orders.elements()
        )
        tables.append(Groups(gather, count_matrix(rows, (counts.shape[0], len(groups))), counts))
    # the part of the likelihood that is linear in θ
    observed = sum(table.gather.T @ (table.counts.T @ table.nodes).toarray().ravel() for table in tables)

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value = l2 / 2 * theta @ theta - observed @ theta
        gradient = l2 * theta - observed
        for gather, nodes, counts in tables:
            group_sizes = nodes.sum(axis=0)  # M
            scores = counts @ (gather @ theta).reshape(-1, len(group_sizes))  # n!×M
            highest = scores.max(axis=0)
            expected = np.exp(scores - highest)
            sums = expected.sum(axis=0)  # M
            value += group_sizes @ (np.log(sums) + highest)
            expected *= group_sizes / sums
            gradient += gather.T @ (counts.T @ expected).ravel()
        return value, gradient

    return list(features), objective


def groups_of(nodes: Nodes) -> dict[tuple[str, ...], Counter[int]]:
    """The nodes by their items (`all_orders`), and how many have each order, by its row."""
    groups: dict[tuple[str, ...], Counter[int]] = defaultdict(Counter)
    for order, number in nodes.items():
        groups[tuple(order[place] for place in items_of(order))][row_of(order)] += number
    return groups


def frequent_n_grams(nodes: Nodes) -> set[str]:
    """The tenth of the types of features HI that occurs most often; of equal ones the first by name."""
    found: Counter[str] = Counter()
    for order, number in nodes.items():
        for name in n_grams(order):
            found[name] += number
    return set(sorted(found, key=lambda name: (-found[name], name))[: math.ceil(FREQUENT * len(found))])


def likelihood(nodes: Nodes, weights: Weights) -> Likelihood:
    """How well the weights predict the orders of nodes, as strings of symbols."""
    model_sum = uniform_sum = 0.0
    for items, orders in groups_of(nodes).items():
        same = math.log(identical_orders(items))
        logarithms = log_probabilities(items, weights)
        model_sum += sum(number * (logarithms[row] + same) for row, number in orders.items())
        uniform_sum += orders.total() * (same - math.log(len(logarithms)))
    total = nodes.total()
    return (
        Likelihood(total, float(model_sum) / total, uniform_sum / total)
        if total
        else Likelihood(0, math.nan, math.nan)
    )
