"""Make the data of natural language inference, to fine-tune a masked language model on: MultiNLI to learn from, XNLI to test on.

    python scripts/prepare_xnli.py PRETRAINING FOLDER --multinli multinli_1.0 --xnli XNLI-1.0 --languages en de hi

PRETRAINING is the folder that the model was pre-trained on; its subword model and dictionary are used.
"""

import argparse
from pathlib import Path

from zsnmt import console


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pretraining", type=Path, help="folder made by scripts/prepare_languages.py")
    parser.add_argument("folder", type=Path, help="folder to make")
    parser.add_argument("--multinli", type=Path, required=True, help="folder with multinli_1.0_train, .jsonl or .txt")
    parser.add_argument("--xnli", type=Path, required=True, help="folder with xnli.dev and xnli.test, .jsonl or .tsv")
    parser.add_argument("--languages", nargs="+", required=True, metavar="CODE", help="languages to test, that of MultiNLI (en) first")
    parser.add_argument("--longest", type=int, default=128, metavar="N",
                        help="tokens of a pair, special ones among them; what is longer is cut (default: %(default)s)")  # fmt: skip
    args = parser.parse_args()

    from zsnmt.masked_lm.nli_data import prepare  # fairseq, which takes seconds to load

    for split, pairs in prepare(args.folder, args.pretraining, args.multinli, args.xnli, args.languages, args.longest).items():
        print(f"{split}\t{pairs}")


if __name__ == "__main__":
    console.run(main)
