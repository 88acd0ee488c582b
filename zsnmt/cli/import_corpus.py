"""Turn the release of a corpus into a folder of parallel text.

    zsnmt import-corpus iwslt17 RELEASE FOLDER --languages en it nl ro
    zsnmt import-corpus europarl RELEASE FOLDER --languages en da de es fi fr it nl pt --condition full
    zsnmt import-corpus pmindia RELEASE FOLDER --languages en bn gu hi kn ml mr or pa te
    zsnmt import-corpus multi30k RELEASE FOLDER --languages en de fr cs --condition non_overlap

Prints the sentence pairs by split and pair, and says on stderr what was repaired or left out.
"""

import logging
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.parallel_text import print_by_split
from zsnmt.corpora.releases.options import add_corpora, reader_of
from zsnmt.files.replacing import new_folder


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt import-corpus", description=__doc__)
    add_corpora(parser, add_paths)
    options = parser.parse_args(arguments)
    from zsnmt.corpora.releases.foreign_text import warn_of_foreign_text  # loads py3langid

    logging.getLogger("zsnmt.corpora").setLevel(logging.INFO)
    reader, settings = reader_of(options)
    with new_folder(options.folder) as folder:
        counts = reader(options.release, folder, options.languages, **settings)
        warn_of_foreign_text(folder, options.languages)
    print_by_split(counts)


def add_paths(options: ArgumentParser) -> None:
    """Add what every corpus needs."""
    options.add_argument("release", type=Path, help="folder that holds the release, unpacked")
    options.add_argument("folder", type=Path, help="folder of parallel text to make")
    options.add_argument(
        "--languages", nargs="+", required=True, metavar="CODE", help="languages, the pivot first"
    )
