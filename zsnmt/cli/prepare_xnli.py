"""Make the data of natural language inference, to fine-tune a masked language model on: MultiNLI to learn
from, XNLI to test on.

    zsnmt prepare-xnli PRETRAINING FOLDER --multinli multinli_1.0 --xnli XNLI-1.0 --languages en de hi

PRETRAINING is the folder that the model was pre-trained on; its subword model and dictionary are used.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt prepare-xnli", description=__doc__)
    parser.add_argument("pretraining", type=Path, help="folder made by zsnmt prepare-languages")
    parser.add_argument("folder", type=Path, help="folder to make")
    parser.add_argument(
        "--multinli", type=Path, required=True, help="folder with multinli_1.0_train, .jsonl or .txt"
    )
    parser.add_argument(
        "--xnli", type=Path, required=True, help="folder with xnli.dev and xnli.test, .jsonl or .tsv"
    )
    parser.add_argument(
        "--languages",
        nargs="+",
        required=True,
        metavar="CODE",
        help="languages to test, that of MultiNLI (en) first",
    )
    parser.add_argument(
        "--longest",
        type=int,
        default=128,
        metavar="N",
        help="tokens of a pair, special ones included; longer pairs are cut",
    )
    args = parser.parse_args(arguments)

    from zsnmt.masked_lm.nli_data import prepare  # fairseq, which takes seconds to load

    for split, pairs in prepare(
        args.folder,
        args.pretraining,
        args.multinli,
        xnli=args.xnli,
        languages=args.languages,
        longest=args.longest,
    ).items():
        print(f"{split}\t{pairs}")
