"""Make the data of a masked language model of several languages, which share a subword vocabulary.

    zsnmt prepare-languages TEXT FOLDER --languages en de hi --vocabulary-size 60000

TEXT holds train.LANGUAGE and valid.LANGUAGE for each language: UTF-8, one sentence per line.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt prepare-languages", description=__doc__)
    parser.add_argument("text", type=Path, help="folder of the text")
    parser.add_argument("folder", type=Path, help="folder to make")
    parser.add_argument(
        "--languages", nargs="+", required=True, metavar="CODE", help="languages, two or more"
    )
    parser.add_argument(
        "--vocabulary-size",
        type=int,
        default=60000,
        metavar="N",
        help="symbols of all languages together, five special ones among them",
    )
    args = parser.parse_args(arguments)

    from zsnmt.masked_lm.languages_data import prepare  # fairseq, which takes seconds to load

    for name, lines in prepare(
        args.folder, args.text, args.languages, vocabulary_size=args.vocabulary_size
    ).items():
        print(f"{name}\t{lines}")
