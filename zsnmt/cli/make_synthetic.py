"""Makes a synthetic multilingual corpus: a pivot and several artificial languages, rendered from the same meanings.

    zsnmt make-synthetic FOLDER                             # the standard languages
    zsnmt make-synthetic FOLDER --number 2 --seed 3
    zsnmt make-synthetic FOLDER --languages languages.json  # your own; see the end of --help
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.invented.corpus import SyntheticCorpus, read_languages, standard_languages, write_corpus
from zsnmt.corpora.invented.grammar import CHOICES


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt make-synthetic", description=__doc__, epilog=languages_help())
    parser.add_argument("folder", type=Path, help="new folder for the corpus")
    add_corpus_options(parser)
    options = parser.parse_args(arguments)
    written = write_corpus(corpus_of(options), options.folder)
    print(f"make_synthetic: {options.folder} {'is written' if written else 'was there already'}", file=sys.stderr)
    print((options.folder / "description.txt").read_text(encoding="utf-8"), end="")


def add_corpus_options(parser: ArgumentParser, without: Collection[str] = ()) -> None:
    """Add the settings of an artificial corpus but some."""
    which = parser.add_mutually_exclusive_group()
    number = len(SyntheticCorpus.languages) - 1
    which.add_argument("--number", type=int, default=number, help="standard languages besides the pivot")
    which.add_argument("--languages", type=Path, metavar="FILE", help="JSON list of languages, the pivot first")
    console.add_fields(parser, SyntheticCorpus, without=["languages", *without])


def corpus_of(options: Namespace) -> SyntheticCorpus:
    """What the options say."""
    settings = {field: value for field, value in vars(options).items() if field in SyntheticCorpus.__dataclass_fields__}
    path = options.languages
    return SyntheticCorpus(**settings | {"languages": read_languages(path) if path else standard_languages(options.number)})


def languages_help() -> str:
    choices = [f"  {name}: {', '.join(values)}" for name, values in CHOICES.items()]
    return "\n".join(["A language in FILE has a name, a family and any of:", *choices])
