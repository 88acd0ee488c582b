"""Makes a synthetic multilingual corpus: a pivot and several artificial languages, rendered from the same meanings.

    python scripts/make_synthetic.py FOLDER                             # the standard languages
    python scripts/make_synthetic.py FOLDER --number 2 --seed 3
    python scripts/make_synthetic.py FOLDER --languages languages.json  # your own; see --help
"""

import argparse
import sys
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.invented.corpus import SyntheticCorpus, read_languages, standard_languages, write_corpus
from zsnmt.corpora.invented.grammar import CHOICES


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=languages_help()
    )
    parser.add_argument("folder", type=Path, help="new folder for the corpus")
    which = parser.add_mutually_exclusive_group()
    number = len(SyntheticCorpus.languages) - 1
    which.add_argument(
        "--number", type=int, default=number, help=f"standard languages besides the pivot (default {number})"
    )
    which.add_argument("--languages", type=Path, metavar="FILE", help="JSON list of languages, the pivot first")
    console.add_fields(parser, SyntheticCorpus, without=["languages"])
    return parser.parse_args()


def languages_help() -> str:
    choices = [f"  {name}: {', '.join(values)}" for name, values in CHOICES.items()]
    return "\n".join(["A language in FILE has a name, a family and any of:", *choices])


def main() -> None:
    options = vars(parse_arguments())
    folder, number, path = options.pop("folder"), options.pop("number"), options.pop("languages")
    languages = read_languages(path) if path else standard_languages(number)
    written = write_corpus(SyntheticCorpus(languages=languages, **options), folder)
    print(f"make_synthetic: {folder} {'is written' if written else 'was there already'}", file=sys.stderr)
    print((folder / "description.txt").read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    console.run(main)
