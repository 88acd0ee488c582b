"""Make the data of one masked language model of several languages, which share a subword vocabulary.

    python scripts/prepare_languages.py TEXT FOLDER --languages en de hi --vocabulary-size 60000

TEXT holds train.LANGUAGE and valid.LANGUAGE for each language: UTF-8, a sentence a line.
"""

import argparse
from pathlib import Path

from zsnmt import console


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path, help="folder of the text")
    parser.add_argument("folder", type=Path, help="folder to make")
    parser.add_argument("--languages", nargs="+", required=True, metavar="CODE", help="languages, two or more")
    parser.add_argument("--vocabulary-size", type=int, default=60000, metavar="N",
                        help="symbols of all languages together, five special ones among them (default: %(default)s)")  # fmt: skip
    args = parser.parse_args()

    from zsnmt.masked_lm.languages_data import prepare  # fairseq, which takes seconds to load

    for name, lines in prepare(args.folder, args.text, args.languages, args.vocabulary_size).items():
        print(f"{name}\t{lines}")


if __name__ == "__main__":
    console.run(main)
