"""Checks a folder of parallel text and prints its number of sentence pairs, by pair and split."""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.parallel_text import SPLITS, check_corpus
from zsnmt.languages import parse_direction


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt check", description=__doc__)
    parser.add_argument(
        "folder", type=Path, help="holds {split}.{src}-{tgt}.{lang} or multiway {split}.{lang}"
    )
    parser.add_argument(
        "--pairs",
        action=console.Several,
        required=True,
        metavar="PAIR",
        help="language pairs that must be there, as in de-en fr-en",
    )
    parser.add_argument(
        "--splits",
        action=console.Several,
        default=SPLITS,
        metavar="SPLIT",
        help=f"splits that must be there (default: {' '.join(SPLITS)})",
    )
    options = parser.parse_args(arguments)
    counts = check_corpus(options.folder, [*map(parse_direction, options.pairs)], options.splits)
    print("\t".join(["pair", *counts]))
    for pair in next(iter(counts.values())):
        print("\t".join([pair, *(str(of_split[pair]) for of_split in counts.values())]))
