"""Galactic Dependencies: learn the word order of a language from its trees, and give it to sentences of another.

    python scripts/galactic.py train fi.train.conllu --output models/fi     # models/fi@N.orm, models/fi@V.orm
    python scripts/galactic.py train en.train.conllu --output models/en
    python scripts/galactic.py apply en.train.conllu --order models/fi --own models/en --output data/train.fi
    python scripts/galactic.py text en.train.conllu --output data/train.en  # the same sentences, as they are

Trees are CoNLL-U, from a treebank or any parser of Universal Dependencies.
"""

import argparse
import os
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.reordering.dependency_trees import read_trees
from zsnmt.corpora.reordering.galactic_dependencies import MOST_CHILDREN, OWN_WEIGHT, write_reordered
from zsnmt.corpora.reordering.permutation_model import KINDS, mixed, read_model, write_model
from zsnmt.corpora.reordering.permutation_training import L2, count_nodes, likelihood, train
from zsnmt.processes import progress


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verb = verbs.add_parser("train", help="learn two permutation models, of noun and of verb heads")
    verb.add_argument("trees", type=Path, nargs="+", metavar="TREES.conllu")
    verb.add_argument("--output", type=Path, required=True, metavar="MODEL", help="writes MODEL@N.orm and MODEL@V.orm")
    verb.add_argument("--held-out", type=Path, nargs="+", default=[], metavar="TREES.conllu",
                      help="report the likelihood of these trees, too")  # fmt: skip
    verb.add_argument("--l2", type=float, default=L2, help=f"weight λ of the regulariser λ/2 ‖θ‖² (default {L2})")
    verb.set_defaults(run=train_models)

    verb = verbs.add_parser("apply", help="write sentences in the order of another language")
    add_trees(verb)
    verb.add_argument("--order", type=Path, required=True, metavar="MODEL", help="model of the language whose order is taken")
    verb.add_argument("--own", type=Path, required=True, metavar="MODEL", help="model of the language of the trees")
    verb.add_argument("--own-weight", type=float, default=OWN_WEIGHT, metavar="W",
                      help=f"weights are (1 - W) of --order and W of --own (default {OWN_WEIGHT})")  # fmt: skip
    verb.add_argument("--version-1", nargs="+", choices=["order", "own"], default=[], metavar="MODEL",
                      help="order, own or both were learned from Universal Dependencies 1, as the published models were: "
                           "take their labels for those of version 2")  # fmt: skip
    verb.add_argument("--seed", type=int, default=0, help="seed of the orders drawn (default 0)")
    verb.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    verb.set_defaults(run=apply_model)

    verb = verbs.add_parser("text", help="write the sentences that apply keeps, in their own order")
    add_trees(verb)
    verb.set_defaults(run=write_text)
    return parser.parse_args()


def add_trees(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("trees", type=Path, metavar="TREES.conllu")
    verb.add_argument("--output", type=Path, required=True, metavar="PREFIX", help="writes PREFIX.source and others")
    verb.add_argument("--most-children", type=int, default=MOST_CHILDREN, metavar="N",
                      help=f"leave out trees where a word has more children, with itself (default {MOST_CHILDREN})")  # fmt: skip


def train_models(options: argparse.Namespace) -> None:
    sets = {"train": options.trees, "held_out": options.held_out}
    nodes, counts = {}, {}
    for name, files in sets.items():
        trees = (tree for file in files for tree in read_trees(file))
        nodes[name], counts[name] = count_nodes(progress(trees, "reading", unit=" trees"))
    model = {kind: train(nodes["train"][kind], options.l2, f"model {kind} of {options.output}") for kind in KINDS}
    write_model(model, options.output)
    print("set", "trees", "non_projective", "heads", "nodes", "features", "log_likelihood", "uniform", sep="\t")
    for name in (name for name, files in sets.items() if files):
        for kind in KINDS:
            found = likelihood(nodes[name][kind], model[kind])
            print(name, counts[name]["read"], counts[name]["non_projective"], kind, found.nodes, len(model[kind]),
                  f"{found.model:.4f}", f"{found.uniform:.4f}", sep="\t")  # fmt: skip


def apply_model(options: argparse.Namespace) -> None:
    order, own = (read_model(getattr(options, name), name in options.version_1) for name in ("order", "own"))
    model = mixed(order, own, options.own_weight)
    report(write_reordered(options.trees, options.output, model, options.seed, options.most_children, options.jobs))


def write_text(options: argparse.Namespace) -> None:
    report(write_reordered(options.trees, options.output, None, most_children=options.most_children))


def report(counts: dict) -> None:
    print(*counts, sep="\t")
    print(*counts.values(), sep="\t")


def main() -> None:
    options = parse_arguments()
    options.run(options)


if __name__ == "__main__":
    console.run(main)
