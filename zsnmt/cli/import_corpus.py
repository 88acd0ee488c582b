"""Turn the release of a corpus into a folder of parallel text.

    zsnmt import-corpus iwslt17 RELEASE FOLDER --languages en it nl ro
    zsnmt import-corpus europarl RELEASE FOLDER --languages en da de es fi fr it nl pt --condition full
    zsnmt import-corpus pmindia RELEASE FOLDER --languages en bn gu hi kn ml mr or pa te
    zsnmt import-corpus multi30k RELEASE FOLDER --languages en de fr cs --condition non_overlap

Prints the sentence pairs by split and pair, and says on stderr what was repaired or left out.
"""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path

from zsnmt import console
from zsnmt.files import new_folder

CORPORA = ("iwslt17", "europarl", "pmindia", "multi30k")
SETTINGS = {
    "condition": {"help": "how training pairs share sentences: multiway, non_overlap, or for europarl full"},
    "held_out": {"type": int, "metavar": "N", "help": "sentences of valid and of test"},
    "pairs": {"type": int, "metavar": "N", "help": "train each language with at most N sentence pairs"},
    "seed": {"type": int, "help": "seed of all draws"},
    "workers": {"type": int, "help": "processes, else as many as there are cores"},
}


def settings_of(reader: Callable) -> dict:
    """The defaults of what a reader takes besides the release, the target and the languages."""
    return {name: parameter.default for name, parameter in [*signature(reader).parameters.items()][3:]}


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = console.Parser(prog="zsnmt import-corpus", description=__doc__)
    corpora = parser.add_subparsers(dest="corpus", required=True)
    for corpus in CORPORA:
        module = import_module(f"zsnmt.corpora.releases.{corpus}")
        options = corpora.add_parser(corpus, help=module.__doc__.split("\n")[0])
        options.add_argument("release", type=Path, help="folder that holds the release, unpacked")
        options.add_argument("folder", type=Path, help="folder of parallel text to make")
        options.add_argument("--languages", nargs="+", required=True, metavar="CODE", help="languages, the pivot first")
        for name, default in settings_of(module.read_release).items():
            options.add_argument(f"--{name.replace('_', '-')}", default=default, **SETTINGS[name])
        options.set_defaults(reader=module.read_release)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_options(arguments)
    logging.getLogger("zsnmt.corpora").setLevel(logging.INFO)
    settings = {name: getattr(options, name) for name in settings_of(options.reader)}
    with new_folder(options.folder) as folder:
        counts = options.reader(options.release, folder, options.languages, **settings)
        warn_of_foreign_text(folder, options.languages)
    for split, pairs in counts.items():
        for pair, number in pairs.items():
            print(f"{split}\t{pair}\t{number}")


def warn_of_foreign_text(folder: Path, languages: list[str]) -> None:
    from zsnmt.corpora.releases.foreign_text import foreign_files  # loads py3langid

    for foreign in foreign_files(folder, languages):
        print(f"warning: {foreign}", file=sys.stderr)
