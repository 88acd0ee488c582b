"""Makes a synthetic multilingual corpus: a pivot and several artificial languages, rendered from the same
meanings.

zsnmt make-synthetic FOLDER                             # the standard languages
zsnmt make-synthetic FOLDER --number 2 --seed 3
zsnmt make-synthetic FOLDER --languages languages.json  # your own; see the end of --help
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.invented.corpus import write_corpus
from zsnmt.corpora.invented.grammar import CHOICES
from zsnmt.corpora.invented.options import add_corpus_options, corpus_of


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt make-synthetic", description=__doc__, epilog=languages_help())
    parser.add_argument("folder", type=Path, help="new folder for the corpus")
    add_corpus_options(parser)
    options = parser.parse_args(arguments)
    written = write_corpus(corpus_of(options), options.folder)
    print(
        f"make_synthetic: {options.folder} {'is written' if written else 'was there already'}",
        file=sys.stderr,
    )
    print((options.folder / "description.txt").read_text(encoding="utf-8"), end="")


def languages_help() -> str:
    choices = [f"  {name}: {', '.join(values)}" for name, values in CHOICES.items()]
    return "\n".join(["A language in FILE has a name, a family and any of:", *choices])
