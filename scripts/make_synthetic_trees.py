"""Makes dependency treebanks of artificial languages in CoNLL-U: {train,valid}.{lang}.conllu, of the same meanings.

    python scripts/make_synthetic_trees.py FOLDER                             # the standard languages
    python scripts/make_synthetic_trees.py FOLDER --number 2 --sentences 500 --seed 3
    python scripts/make_synthetic_trees.py FOLDER --languages languages.json  # your own; see make_synthetic.py --help

The settings are those of make_synthetic.py; with equal settings the languages have the same words as there.
"""

import argparse
import sys
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.invented.corpus import SyntheticCorpus, read_languages, standard_languages
from zsnmt.corpora.invented.trees import write_treebanks

ELSEWHERE = ("languages", "pairs", "test")  # settings of a corpus that have another option here, or no use


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="new folder for the treebanks")
    which = parser.add_mutually_exclusive_group()
    number = len(SyntheticCorpus.languages) - 1
    which.add_argument(
        "--number", type=int, default=number, help=f"standard languages besides the pivot (default {number})"
    )
    which.add_argument("--languages", type=Path, metavar="FILE", help="JSON list of languages, the pivot first")
    parser.add_argument("--sentences", type=int, default=2000, help="sentences of each training set (default 2000)")
    console.add_fields(parser, SyntheticCorpus, without=ELSEWHERE)
    return parser.parse_args()


def main() -> None:
    options = vars(parse_arguments())
    folder, number, path = options.pop("folder"), options.pop("number"), options.pop("languages")
    sentences = options.pop("sentences")
    corpus = SyntheticCorpus(languages=read_languages(path) if path else standard_languages(number), **options)
    write_treebanks(corpus, sentences, folder)
    print(f"make_synthetic_trees: {folder} is written", file=sys.stderr)
    print("language", "word_order", "train", "valid", sep="\t")
    for language in corpus.languages:
        print(language.name, language.word_order, sentences, corpus.valid, sep="\t")


if __name__ == "__main__":
    console.run(main)
