"""Galactic Dependencies (Wang & Eisner 2016): sentences of one language in the word order of another.

The children of each noun and verb, and the head among them, take an order drawn at random by its probability
under a permutation model of the other language; all that is below a child moves with it. Models see parts of
speech and relations only, so they order the words of any language.

Left out are trees that are not projective, whose subtrees are not in one piece, and those where any word has
more children than can be weighed in all their orders. What is written for the trees that are kept, line by
line:

    PREFIX.source     the words in their order, parted by spaces
    PREFIX.reordered  the words in the new order
    PREFIX.alignment  for each word of the new order its number in the source, from 0
    PREFIX.kept       the number of the tree in the CoNLL-U file, from 1

and in PREFIX.json the counts of trees and words.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from zsnmt.corpora.reordering.defaults import MOST_CHILDREN
from zsnmt.corpora.reordering.dependency_trees import (
    Tree,
    is_projective,
    linearise,
    local_orders,
    read_trees,
    text_of,
)
from zsnmt.corpora.reordering.permutation_features import HEADS, all_orders, symbols
from zsnmt.corpora.reordering.permutation_model import Model, items_of, log_probabilities
from zsnmt.errors import InputError
from zsnmt.files.replacing import replacing
from zsnmt.processes import map_in_processes, progress

POSSIBLE = range(1, 9)  # 9! orders take gigabytes
CACHED = 4096  # distributions, of 40 kB at most; 320 kB with 8 children

Distribution = Callable[[str, tuple[str, ...]], np.ndarray]


def write_reordered(
    trees: Path,
    prefix: Path,
    model: Model | None,
    seed: int = 0,
    most_children: int = MOST_CHILDREN,
    jobs: int = 1,
) -> dict[str, int]:
    """Write the files of PREFIX for the trees of a CoNLL-U file, and return the counts.

    Without a model the sentences are not reordered, and PREFIX.source, .kept and .json all there is to write.
    Raises `InputError` where `read_trees` does, for a number of children or processes, a seed or a PREFIX
    that is not possible, and where no tree can be kept.
    """
    if most_children not in POSSIBLE:
        raise InputError(
            f"{most_children} children at most are not possible; give {POSSIBLE[0]} to {POSSIBLE[-1]}"
        )
    if not prefix.name:
        raise InputError(f"'{prefix}' does not name files; give a name, as in data/train.fi")
    if seed < 0:
        raise InputError(f"a seed of {seed} cannot be used; give 0 or more")
    prefix.parent.mkdir(parents=True, exist_ok=True)
    counts = Counter(
        dict.fromkeys(("read", "non_projective", "too_many_children", "kept", "words", "words_moved"), 0)
    )
    names = ["source", "kept"] + (["reordered", "alignment"] if model else [])
    with ExitStack() as stack:
        files = {name: stack.enter_context(replacing(Path(f"{prefix}.{name}"))) for name in [*names, "json"]}
        for number, (tree, order) in enumerate(
            reorder(read_trees(trees), model, seed, most_children=most_children, jobs=jobs), start=1
        ):
            counts["read"] += 1
            if isinstance(order, str):
                counts[order] += 1
                continue
            counts["kept"] += 1
            counts["words"] += len(order)
            counts["words_moved"] += sum(word != place for place, word in enumerate(order))
            lines = {
                "source": text_of(tree),
                "kept": str(number),
                "reordered": text_of(tree, order),
                "alignment": " ".join(map(str, order)),
            }
            for name in names:
                files[name].write(lines[name].encode("utf-8") + b"\n")
        if not counts["kept"]:
            raise InputError(
                f"no tree of {trees} can be kept: {counts['non_projective']} are not projective, and "
                f"{counts['too_many_children']} have a word with more than {most_children} children; give "
                "other trees, or allow more children"
            )
        files["json"].write(json.dumps(counts, indent=1).encode("utf-8"))
    return dict(counts)


def reorder(
    trees: Iterable[Tree],
    model: Model | None,
    seed: int = 0,
    most_children: int = MOST_CHILDREN,
    jobs: int = 1,
) -> Iterator[tuple[Tree, list[int] | str]]:
    """Each tree with the numbers of its words in the new order, or why it is left out: `non_projective`,
    `too_many_children`.

    The new order of tree i is drawn with a generator of its own, of (seed, i), so that neither the other
    trees nor the number of processes alter it. Without a model the order is that of the sentence.
    """
    orders = partial(
        reorder_sentence,
        seed=seed,
        most_children=most_children,
        distribution=distribution_of(model) if model else None,
    )
    return map_in_processes(orders, progress(enumerate(trees), "reordering", unit=" trees"), jobs)


def distribution_of(model: Model) -> Distribution:
    """A function of kind and items (as for `all_orders`): the n! probabilities, summed up from the first
    to 1.
    """

    @lru_cache(CACHED)
    def distribution(kind: str, items: tuple[str, ...]) -> np.ndarray:
        cumulative = np.cumsum(np.exp(log_probabilities(items, model[kind])))
        return cumulative / cumulative[-1]

    return distribution


def draw_order(tree: Tree, generator: np.random.Generator, distribution: Distribution) -> list[int]:
    """The numbers of the words of a projective tree in a new order, drawn head by head, independently."""
    orders = local_orders(tree.heads)
    for head, words in enumerate(orders):
        if len(words) > 1 and tree.upos[head] in HEADS:
            names = symbols(tree, head, words)
            places = items_of(names)
            cumulative = distribution(HEADS[tree.upos[head]], tuple(names[place] for place in places))
            row = np.searchsorted(cumulative, generator.random(), side="right")
            orders[head] = [words[places[item]] for item in all_orders(len(words)).orders[row]]
    return linearise(tree.heads.index(None), orders)


def reorder_sentence(
    numbered: tuple[int, Tree], seed: int, most_children: int, distribution: Distribution | None
) -> tuple[Tree, list[int] | str]:
    number, tree = numbered
    if not is_projective(tree.heads):
        return tree, "non_projective"
    if max(map(len, local_orders(tree.heads))) > most_children:
        return tree, "too_many_children"
    if distribution is None:
        return tree, list(range(len(tree.heads)))
    return tree, draw_order(tree, np.random.default_rng([seed, number]), distribution)
