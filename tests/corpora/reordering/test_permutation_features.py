"""The features of an order, against their definitions written out."""

import random
from collections import Counter
from itertools import permutations

import pytest

from zsnmt.corpora.reordering.dependency_trees import Tree
from zsnmt.corpora.reordering.permutation_features import all_orders, feature_names, n_grams, symbols

CHILDREN = ("DET&det", "NOUN&nsubj", "NOUN&obj", "NOUN&nsubj", "PUNCT&punct")


def naive_features(order: list[str]) -> Counter[str]:
    """Counts of all features of an order of symbols, as Wang & Eisner define them."""
    found = Counter()
    for view in (0, 1, 2):  # the whole symbol, its part of speech, its relation
        names = [symbol if view == 0 else symbol.split("&")[view - 1] for symbol in order]
        head = next(place for place, symbol in enumerate(order) if symbol.endswith("&@"))
        edged = ["BOS", *names, "EOS"]
        found.update(f"BI_{edged[i]}_{edged[i + 1]}" for i in range(len(edged) - 1))
        for i in range(len(names)):
            for j in range(i + 1, len(names)):
                found[f"PRE_{names[i]}_{names[j]}"] += 1
                found[f"BFR_{names[i]}_{names[j]}"] += j < head
                found[f"BTW_{names[i]}_{names[j]}"] += i < head < j
                found[f"AFT_{names[i]}_{names[j]}"] += head < i
        if view == 0:
            for n in (3, 4, 5):
                padded = ["BOS"] * (n - 1) + names + ["EOS"] * (n - 1)
                if n <= len(names):
                    found.update("HI_" + "_".join(padded[i : i + n]) for i in range(len(padded) - n + 1))
    return +found


@pytest.mark.parametrize("children", range(1, 6))
def test_every_order_has_the_features_of_the_definition(children):
    items = ("@VERB&@", *CHILDREN[:children])
    table, columns = all_orders(len(items)), list(feature_names(items))
    assert sorted(map(tuple, table.orders)) == sorted(permutations(range(len(items))))
    for row in random.Random(children).sample(range(len(table.orders)), min(40, len(table.orders))):
        counts = table.counts[[row]].toarray()[0]
        found = Counter()
        for column, feature in columns:
            found[feature] += counts[column]
        order = [items[item] for item in table.orders[row]]
        assert +found == naive_features(order)
        assert Counter(n_grams(order)) == Counter(
            {name: number for name, number in naive_features(order).items() if name.startswith("HI_")}
        )
        assert table.rows[tuple(table.orders[row])] == row


def test_features_are_spelled_as_in_the_published_models():
    tree = Tree(("so", "cats", "sleep"), ("ADV", "NOUN", "VERB"), ("advmod", "nsubj", "root"), (2, 2, None))
    order = symbols(tree, 2, [0, 1, 2])
    assert order == ("ADV&advmod", "NOUN&nsubj", "@VERB&@")
    found = naive_features(order)
    published = [
        "BI_BOS_ADV&advmod",
        "BI_nsubj_@",
        "BI_@VERB_EOS",
        "PRE_ADV_@VERB",
        "BFR_advmod_nsubj",
        "HI_BOS_ADV&advmod_NOUN&nsubj",
    ]
    assert all(found[name] == 1 for name in published)
