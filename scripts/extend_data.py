"""Binarise text for a trained model and its new languages; prints the share of unknown pieces of each new file."""

import argparse
import os
from pathlib import Path

from zsnmt import console


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path, help="folder of parallel text, made by scripts/join_text.py")
    parser.add_argument("folder", type=Path, help="folder to make")
    parser.add_argument("--run", type=Path, required=True, help="the run that learns the languages")
    parser.add_argument("--languages", nargs="+", required=True, metavar="CODE", help="languages of the new text, the pivot first")
    parser.add_argument("--vocabulary-size", type=int, default=8000, help="pieces of each new language's own subword model")
    parser.add_argument("--subword-type", choices=["bpe", "unigram", "word"], default="bpe", help="kind of subword model, or word")
    parser.add_argument("--threshold", type=int, default=0, metavar="N", help="use only pieces that occur at least N times in its text")
    parser.add_argument("--tokenisation", default="raw", metavar="KIND", help="what is done before; as in prepare.py")
    parser.add_argument("--allow-unknown", type=float, metavar="SHARE", help="share 0–1 of a file's pieces that may be unknown (default: 0.01)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sampling")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    from zsnmt.adaptation.data import (  # loads PyTorch: only now, so that --help is quick
        UNKNOWN_BOUND,
        extend_data,
    )
    from zsnmt.adaptation.joined_text import new_languages
    from zsnmt.languages import read_languages
    from zsnmt.runs.folder import PIPELINE_FOLDER
    from zsnmt.text.learning import TextSettings

    base = options.run / PIPELINE_FOLDER
    new = new_languages(options.languages, read_languages(base))
    settings = TextSettings(
        options.vocabulary_size, options.subword_type, threshold=options.threshold, seed=options.seed, tokenisation=options.tokenisation
    )
    bound = UNKNOWN_BOUND if options.allow_unknown is None else options.allow_unknown
    for name, share in extend_data(options.text, options.folder, base, new, settings, bound, options.workers).items():
        print(f"{name}\t{100 * share:.2f} % unknown")


if __name__ == "__main__":
    console.run(main)
