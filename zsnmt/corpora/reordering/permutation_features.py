"""What a permutation model sees of an order of children: features of Wang & Eisner (2016, The Galactic
Dependencies).

An order is that of a head's children and of the head itself, as symbols: `NOUN&nsubj`, part of speech and
relation, for a child and `@VERB&@` for the head. A feature counts how often a pattern occurs in an order:

    BI a b       b follows a at once; BOS and EOS stand before and after the order
    PRE a b      a is somewhere before b
    BFR a b      a is somewhere before b, and both are before the head
    AFT a b      a is somewhere before b, and both are after the head
    BTW a b      a is before and b after the head
    HI a b c ..  3 to 5 that follow each other at once, no more than the order has symbols;
                 BOS and EOS as often as needed

All but HI are counted three times: of whole symbols, of parts of speech alone and of relations alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise, permutations
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from zsnmt.corpora.reordering.dependency_trees import Tree

HEADS = {
    "NOUN": "N",
    "PROPN": "N",
    "PRON": "N",
    "VERB": "V",
}  # the model that orders the children of such a head
HEAD_MARK = "&@"
EDGES = ("BOS", "EOS")
BOS, EOS = -2, -1  # so that (*symbols, *EDGES) gives every item its symbol


class Orders(NamedTuple):
    """All orders of n items, of which item 0 is the head, and the patterns that occur in any.

    `orders` is n!×n, the item at each place; `rows` the row of an order; `counts` n!×C, how often an order
    has each of the C patterns; a pattern is its template and what picks its symbols from those of the items,
    BOS and EOS.
    """

    orders: np.ndarray
    rows: dict[tuple[int, ...], int]
    patterns: list[tuple[str, Callable]]
    counts: csr_array


def symbols(tree: Tree, head: int, words: Sequence[int]) -> tuple[str, ...]:
    """The symbols of a head and its children, in the order of the words."""
    return tuple(
        f"@{tree.upos[word]}{HEAD_MARK}" if word == head else f"{tree.upos[word]}&{tree.relations[word]}"
        for word in words
    )


def patterns_of(order: Sequence[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Each occurrence of a pattern in an order of items, the head being 0: the template and its items."""
    place = order.index(0)
    for pair in pairwise((BOS, *order, EOS)):
        yield "BI", pair
    for first, second in combinations(range(len(order)), 2):
        pair = order[first], order[second]
        yield "PRE", pair
        if place not in (first, second):
            yield "BFR" if second < place else "AFT" if first > place else "BTW", pair
    for length in range(3, min(5, len(order)) + 1):
        padded = (BOS,) * (length - 1) + tuple(order) + (EOS,) * (length - 1)
        for start in range(len(order) + length - 1):
            yield "HI", padded[start : start + length]


@cache
def all_orders(size: int) -> Orders:
    """The n! orders of so many items, and their patterns."""
    orders = list(permutations(range(size)))
    columns: dict[tuple[str, tuple[int, ...]], int] = {}
    places = places_of(
        (row, columns.setdefault(pattern, len(columns)))
        for row, order in enumerate(orders)
        for pattern in patterns_of(order)
    )
    counts = count_matrix(places, (len(orders), len(columns)))
    patterns: list[tuple[str, Callable]] = [(template, itemgetter(*items)) for template, items in columns]
    return Orders(np.array(orders), {order: row for row, order in enumerate(orders)}, patterns, counts=counts)


def places_of(places: Iterable[tuple[int, int]]) -> np.ndarray:
    """Rows and columns, P×2 for P places, without a list of them on the way."""
    return np.fromiter(places, dtype=np.dtype((np.int64, 2)))


def count_matrix(places: np.ndarray, shape: tuple[int, int]) -> csr_array:
    """How often each row and column is among the places (P×2)."""
    return csr_array((np.ones(len(places)), places.T), shape)


def feature_names(items: Sequence[str]) -> Iterator[tuple[int, str]]:
    """For items by their symbols, the head first, each pattern of `all_orders` with each feature that
    counts it.
    """
    joint, *single = [(*view, *EDGES) for view in (items, *zip(*(symbol.split("&", 1) for symbol in items)))]
    for column, (template, pick) in enumerate(all_orders(len(items)).patterns):
        yield column, name(template, pick(joint))
        if template != "HI":
            for view in single:
                yield column, name(template, pick(view))


def n_grams(order: Sequence[str]) -> Iterator[str]:
    """Each occurrence of a feature HI in an order of symbols, by its name."""
    joint = (*order, *EDGES)
    for template, items in patterns_of(range(len(order))):
        if template == "HI":
            yield name(template, itemgetter(*items)(joint))


def name(template: str, symbols: Sequence[str]) -> str:
    return "_".join((template, *symbols))
