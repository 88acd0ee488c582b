"""Cut pivot-centred training pairs from a multiway corpus ({train,valid,test}.{lang})."""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import seed_number
from zsnmt.corpora.multiway import CONDITIONS, cut_training_pairs
from zsnmt.files.replacing import new_folder


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt cut-multiway", description=__doc__)
    parser.add_argument("folder", type=Path, help="multiway corpus")
    parser.add_argument("target", type=Path, help="folder of parallel text to make")
    parser.add_argument(
        "--languages", nargs="+", required=True, metavar="CODE", help="the languages, the pivot first"
    )
    parser.add_argument(
        "--condition",
        choices=CONDITIONS,
        required=True,
        help="every line in every pair, or no pivot sentence in two pairs",
    )
    parser.add_argument("--seed", type=seed_number, default=1, help="seed of the dealing")
    options = parser.parse_args(arguments)

    with new_folder(options.target) as folder:
        counts = cut_training_pairs(
            options.folder, folder, options.languages, condition=options.condition, seed=options.seed
        )
    for pair, number in counts.items():
        print(f"train\t{pair}\t{number}")
