"""Trees made on the spot, and CoNLL-U files of them."""

import random
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

from zsnmt.corpora.reordering.dependency_trees import Tree, linearise, local_orders

UPOS = ("NOUN", "VERB", "ADJ", "ADP", "PROPN")
RELATIONS = ("nsubj", "obj", "obl", "nmod:poss")


def made_up_tree(
    heads: Iterable[int | None], generator: random.Random | None = None, prefix: str = "w"
) -> Tree:
    """A tree with these heads; labels are drawn, or all the same."""
    heads = tuple(heads)
    upos = tuple(generator.choice(UPOS) if generator else "X" for _ in heads)
    relations = tuple(
        "root" if head is None else generator.choice(RELATIONS) if generator else "dep" for head in heads
    )
    return Tree(tuple(f"{prefix}{word}" for word in range(len(heads))), upos, relations, heads)


def projective_tree(words: int, generator: random.Random) -> Tree:
    """A random tree, its words numbered anew so that it is projective."""
    heads = [None] + [generator.randrange(word) for word in range(1, words)]
    orders = [generator.sample(order, len(order)) for order in local_orders(heads)]
    place = {word: number for number, word in enumerate(linearise(0, orders))}
    projective = [None] * words
    for word, head in enumerate(heads):
        projective[place[word]] = None if head is None else place[head]
    return made_up_tree(projective, generator)


def all_trees(words: int) -> Iterator[tuple[int | None, ...]]:
    """The heads of every tree with so many words."""
    for heads in product([None, *range(words)], repeat=words):
        if heads.count(None) == 1 and len(linearise(heads.index(None), local_orders(heads))) == words:
            yield heads


def conllu_of(tree: Tree) -> str:
    lines = [
        "\t".join(
            [
                str(word + 1),
                form,
                "_",
                upos,
                "_",
                "_",
                str(0 if head is None else head + 1),
                relation,
                "_",
                "_",
            ]
        )
        for word, (form, upos, relation, head) in enumerate(zip(*tree))
    ]
    return "".join(f"{line}\n" for line in lines)


def write_trees(path: Path, trees: Iterable[Tree]) -> Path:
    path.write_text("\n".join(map(conllu_of, trees)), encoding="utf-8")
    return path
