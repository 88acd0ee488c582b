"""Makes pairs of sentences for natural language inference in artificial languages, in the form of MultiNLI
and XNLI, and text of the same languages to pre-train on.

    zsnmt make-synthetic-nli FOLDER --number 2     # three languages, of which one has training pairs
    zsnmt make-synthetic-nli FOLDER --pairs 500 --sentences 500 --seed 3

The settings are those of make-synthetic; with equal settings the languages have the same words as there.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.invented.inference import write_inference
from zsnmt.corpora.invented.options import add_inference_options, inference_of


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt make-synthetic-nli", description=__doc__)
    parser.add_argument("folder", type=Path, help="new folder for pairs and text")
    add_inference_options(parser)
    options = parser.parse_args(arguments)
    inference = inference_of(options)
    write_inference(inference, options.folder)
    print(f"make_synthetic_nli: {options.folder} is written", file=sys.stderr)
    corpus = inference.corpus
    print("language", "word_order", "sentences", "train", "dev", "test", sep="\t")
    for language in corpus.languages:
        train = corpus.pairs if language == corpus.pivot else 0
        pairs = train, corpus.valid, corpus.test
        print(language.name, language.word_order, inference.sentences, *pairs, sep="\t")
