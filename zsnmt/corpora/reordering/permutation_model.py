"""Permutation models: how likely each order of a head and its children is, and the files that hold such
models.

With f the counts of `permutation_features`, an order of n symbols has the probability of Wang & Eisner (2016,
eq. 1)

    p(order) = exp(θ·f(order)) / Σ exp(θ·f(order'))    over all n! orders of these symbols

A language has two: MODEL@N.orm for heads NOUN, PROPN and PRON and MODEL@V.orm for VERB; a line is a feature,
a space and its weight in θ, as in the models that are published with the Galactic Dependencies.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.special import log_softmax

from zsnmt.corpora.reordering.permutation_features import HEAD_MARK, HEADS, all_orders, feature_names
from zsnmt.errors import InputError
from zsnmt.text.lines import iterate_lines, write_lines

KINDS = tuple(dict.fromkeys(HEADS.values()))  # N, V
Weights = Mapping[str, float]
Model = Mapping[str, Weights]  # by kind

# What version 2 of Universal Dependencies calls labels of version 1
# (https://universaldependencies.org/v2/summary.html).
RELATIONS = {
    "dobj": "obj",
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "mwe": "fixed",
    "name": "flat",
    "foreign": "flat:foreign",
    "remnant": "orphan",
    "neg": "advmod",
}
UPOS = {"CONJ": "CCONJ"}
SYMBOLS = {"VERB&cop": "AUX&cop", "DET&neg": "DET&det"}


def model_files(prefix: Path) -> dict[str, Path]:
    """The file of each kind of head: MODEL@N.orm and MODEL@V.orm; `InputError` for a model without a name."""
    if not prefix.name:
        raise InputError(f"'{prefix}' does not name a model; give a name, as in models/fi")
    return {kind: prefix.with_name(f"{prefix.name}@{kind}.orm") for kind in KINDS}


def write_model(model: Model, prefix: Path) -> None:
    """Write the weights that are not zero, six digits of each, features sorted."""
    prefix.parent.mkdir(parents=True, exist_ok=True)
    for kind, path in model_files(prefix).items():
        weights = ((feature, f"{weight:.6g}") for feature, weight in sorted(model[kind].items()))
        write_lines(path, (f"{feature} {weight}" for feature, weight in weights if float(weight)))


def read_model(prefix: Path, version_1: bool = False) -> Model:
    """A model from its two files, own or published; with `version_1` its labels are those of Universal
    Dependencies 1.

    Raises `InputError`, with the line, for what is not a feature and a finite number.
    """
    model = {kind: read_weights(path) for kind, path in model_files(prefix).items()}
    return {kind: relabel_weights(weights, kind) for kind, weights in model.items()} if version_1 else model


def relabel_weights(weights: Weights, kind: str) -> Weights:
    """The weights of features by their labels of Universal Dependencies 1, by those of version 2.

    The `nmod` of a verb becomes `obl`, a copula an auxiliary. Where several features become one, the one that
    has the name of version 2 already counts, else the first.
    """
    renamed = [(relabel(feature, kind), feature, weight) for feature, weight in weights.items()]
    renamed.sort(key=lambda entry: entry[0] != entry[1])
    result: dict[str, float] = {}
    for new, _, weight in renamed:
        result.setdefault(new, weight)
    return result


def mix_models(order: Model, own: Model, own_weight: float) -> Model:
    """The model of θ = (1 - w)·θ_order + w·θ_own; raises `InputError` for a weight that is not from 0 to
    1.
    """
    if not 0 <= own_weight <= 1:
        raise InputError(
            f"the weight {own_weight} of the language's own order cannot be used; give one from 0 to 1"
        )
    return {
        kind: {
            feature: (1 - own_weight) * order[kind].get(feature, 0.0)
            + own_weight * own[kind].get(feature, 0.0)
            for feature in order[kind].keys() | own[kind].keys()
        }
        for kind in KINDS
    }


def items_of(symbols: Sequence[str]) -> list[int]:
    """The places of the symbols, that of the head first, the others sorted by symbol: the items of
    `all_orders`.
    """
    return sorted(
        range(len(symbols)), key=lambda place: (not symbols[place].endswith(HEAD_MARK), symbols[place])
    )


def log_probabilities(items: Sequence[str], weights: Weights) -> np.ndarray:
    """Of each of the n! orders (`all_orders`) of n items by their symbols, the head first. Equal symbols
    tell items apart.
    """
    table = all_orders(len(items))
    pattern_weights = np.zeros(len(table.patterns))
    for column, feature in feature_names(items):
        pattern_weights[column] += weights.get(feature, 0.0)
    return log_softmax(table.counts @ pattern_weights)


def identical_orders(symbols: Sequence[str]) -> int:
    """How many of the n! orders of the items are the same string of symbols."""
    return math.prod(math.factorial(number) for number in Counter(symbols).values())


def row_of(symbols: Sequence[str]) -> int:
    """The row in `all_orders` of a string of symbols; one of them where symbols are equal."""
    number = {place: item for item, place in enumerate(items_of(symbols))}
    return all_orders(len(symbols)).rows[tuple(number[place] for place in range(len(symbols)))]


def read_weights(path: Path) -> Weights:
    weights = {}
    for number, line in enumerate(iterate_lines(path), start=1):
        feature, _, value = line.strip().rpartition(" ")
        try:
            weight = float(value)
        except ValueError:
            weight = math.nan
        if not feature or not math.isfinite(weight) or " " in feature:
            raise InputError(
                f"{path}, line {number} is not a feature, a space and a number; give a permutation model"
            )
        if feature in weights:
            raise InputError(f"{path}, line {number} has the feature {feature} a second time; keep one")
        weights[feature] = weight
    return weights


def relabel(feature: str, kind: str) -> str:
    template, *symbols = feature.split("_")
    return "_".join((template, *(relabel_symbol(symbol, kind) for symbol in symbols)))


def relabel_symbol(symbol: str, kind: str) -> str:
    """One of a joint view, a part of speech or a relation; no name means one thing in one and another in
    the other.
    """
    if symbol in SYMBOLS:
        return SYMBOLS[symbol]
    upos, joint, relation = symbol.rpartition("&")
    name, colon, subtype = relation.partition(":")
    if kind == "V" and name == "nmod":
        name = "obl"
    return UPOS.get(upos, upos) + joint + UPOS.get(name, RELATIONS.get(name, name)) + colon + subtype
