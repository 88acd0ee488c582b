"""Fetch the files of a corpus as its makers released them: download, verify, unpack.

Files that are there already are verified, and a download that was cut off is continued.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.releases.catalogue import CATALOGUE
from zsnmt.corpora.releases.fetch import fetch, for_languages, use_mirror


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt fetch", description=__doc__)
    parser.add_argument("corpus", choices=CATALOGUE, help="what to fetch")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="folder to fetch it into")
    parser.add_argument(
        "--languages",
        nargs="+",
        metavar="CODE",
        help="only the files of these languages, where each has its own (default: all)",
    )
    parser.add_argument(
        "--from-dir",
        type=Path,
        metavar="DIR",
        help="take the files from this folder, by name, instead of downloading them",
    )
    parser.add_argument(
        "--mirror",
        metavar="URL",
        help="download the files, by name, from this address instead of that of their makers",
    )
    options = parser.parse_args(arguments)

    corpus = for_languages(CATALOGUE[options.corpus], options.languages)
    if options.mirror:
        corpus = use_mirror(corpus, options.mirror)
    print(f"{corpus.licence}; see {corpus.homepage}", file=sys.stderr)
    for text in fetch(corpus, options.to, options.languages, given=options.from_dir):
        print(text)
