"""Makes dependency treebanks of artificial languages in CoNLL-U: {train,valid}.{lang}.conllu, of the same
meanings.

    zsnmt make-synthetic-trees FOLDER                             # the standard languages
    zsnmt make-synthetic-trees FOLDER --number 2 --sentences 500 --seed 3
    zsnmt make-synthetic-trees FOLDER --languages languages.json  # your own; see zsnmt make-synthetic --help

The settings are those of make-synthetic; with equal settings the languages have the same words as there.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.invented.options import add_treebank_options, corpus_of
from zsnmt.corpora.invented.trees import write_treebanks


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt make-synthetic-trees", description=__doc__)
    parser.add_argument("folder", type=Path, help="new folder for the treebanks")
    add_treebank_options(parser)
    options = parser.parse_args(arguments)
    corpus = corpus_of(options)
    write_treebanks(corpus, options.sentences, options.folder)
    print(f"make_synthetic_trees: {options.folder} is written", file=sys.stderr)
    print("language", "word_order", "train", "valid", sep="\t")
    for language in corpus.languages:
        print(language.name, language.word_order, options.sentences, corpus.valid, sep="\t")
