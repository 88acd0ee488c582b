"""Galactic Dependencies: learn the word order of a language from its trees, and give it to sentences of
another.

    zsnmt galactic train fi.train.conllu --output models/fi     # models/fi@N.orm, models/fi@V.orm
    zsnmt galactic train en.train.conllu --output models/en
    zsnmt galactic apply en.train.conllu --order models/fi --own models/en --output data/train.fi
    zsnmt galactic text en.train.conllu --output data/train.en  # the same sentences, unchanged

Trees are CoNLL-U, from a treebank or any parser of Universal Dependencies.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import seed_number
from zsnmt.corpora.reordering.defaults import L2, MOST_CHILDREN, OWN_WEIGHT
from zsnmt.processes import cores


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_arguments(arguments)
    options.run(options)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = console.Parser(prog="zsnmt galactic", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verb = verbs.add_parser("train", help="learn two permutation models, of noun and of verb heads")
    verb.add_argument("trees", type=Path, nargs="+", metavar="TREES.conllu")
    verb.add_argument(
        "--output", type=Path, required=True, metavar="MODEL", help="writes MODEL@N.orm and MODEL@V.orm"
    )
    verb.add_argument(
        "--held-out",
        type=Path,
        nargs="+",
        default=[],
        metavar="TREES.conllu",
        help="report the likelihood of these trees, too",
    )
    verb.add_argument("--l2", type=float, default=L2, help="weight λ of the regulariser λ/2 ‖θ‖²")
    verb.set_defaults(run=train_models)

    verb = verbs.add_parser("apply", help="write sentences in the order of another language")
    add_trees(verb)
    verb.add_argument(
        "--order",
        type=Path,
        required=True,
        metavar="MODEL",
        help="model of the language whose order is taken",
    )
    verb.add_argument(
        "--own", type=Path, required=True, metavar="MODEL", help="model of the language of the trees"
    )
    verb.add_argument(
        "--own-weight",
        type=float,
        default=OWN_WEIGHT,
        metavar="W",
        help="weights are (1 - W) of --order and W of --own",
    )
    verb.add_argument(
        "--version-1",
        nargs="+",
        choices=["order", "own"],
        default=[],
        metavar="MODEL",
        help="models (order, own or both) that were learned from Universal Dependencies 1, as the "
        "published ones: translate their labels to those of version 2",
    )
    verb.add_argument("--seed", type=seed_number, default=0, help="seed of the orders drawn")
    verb.add_argument("--jobs", type=int, default=cores(), help="processes")
    verb.set_defaults(run=apply_model)

    verb = verbs.add_parser("text", help="write the sentences that apply keeps, in their own order")
    add_trees(verb)
    verb.set_defaults(run=write_text)
    return parser.parse_args(arguments)


def add_trees(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("trees", type=Path, metavar="TREES.conllu")
    verb.add_argument(
        "--output", type=Path, required=True, metavar="PREFIX", help="writes PREFIX.source and others"
    )
    verb.add_argument(
        "--most-children",
        type=int,
        default=MOST_CHILDREN,
        metavar="N",
        help="leave out trees in which a word and its children are more than N",
    )


def train_models(options: argparse.Namespace) -> None:
    from zsnmt.corpora.reordering.permutation_training import Learned, learn_orders  # loads SciPy

    print(*Learned._fields, sep="\t")
    for row in learn_orders(options.trees, options.output, options.held_out, l2=options.l2):
        print(*(f"{value:.4f}" if isinstance(value, float) else value for value in row), sep="\t")


def apply_model(options: argparse.Namespace) -> None:
    from zsnmt.corpora.reordering.galactic_dependencies import write_reordered
    from zsnmt.corpora.reordering.permutation_model import mix_models, read_model

    order, own = (read_model(getattr(options, name), name in options.version_1) for name in ("order", "own"))
    model = mix_models(order, own, options.own_weight)
    report(
        write_reordered(
            options.trees,
            options.output,
            model,
            seed=options.seed,
            most_children=options.most_children,
            jobs=options.jobs,
        )
    )


def write_text(options: argparse.Namespace) -> None:
    from zsnmt.corpora.reordering.galactic_dependencies import write_reordered

    report(write_reordered(options.trees, options.output, None, most_children=options.most_children))


def report(counts: dict) -> None:
    print(*counts, sep="\t")
    print(*counts.values(), sep="\t")
