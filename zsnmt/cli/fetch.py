"""Fetch the files of a corpus as its makers released them: download, verify, unpack.

Files that are there already are verified, and a download that was cut off is continued.

    zsnmt fetch europarl --to data/europarl --languages en de fr
    zsnmt fetch flores --to data/flores         # a public test set
    zsnmt fetch mtdata:Statmt-news_commentary-16-deu-eng mtdata:OPUS-ted2020-v1-deu-eng --to text/news

The second form takes any corpora that the index of mtdata knows (OPUS, WMT, ...; `mtdata list` shows their
IDs) and makes one folder of parallel text of them.
"""

import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import positive
from zsnmt.cli.common.parallel_text import print_by_split
from zsnmt.console import WrongUse
from zsnmt.corpora.releases.catalogue import CATALOGUE
from zsnmt.corpora.releases.fetch import fetch, for_languages, use_mirror

INDEXED = "mtdata:"
RELEASE_OPTIONS, INDEX_OPTIONS = ("from_dir", "mirror"), ("valid", "test", "held_out")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt fetch", description=__doc__)
    parser.add_argument(
        "corpus",
        nargs="+",
        type=corpus_name,
        help=f"what to fetch: {', '.join(CATALOGUE)}, or {INDEXED}ID of one or more corpora",
    )
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="folder to fetch it into")
    parser.add_argument(
        "--languages",
        nargs="+",
        metavar="CODE",
        help="only the files of these languages, where each has its own (default: all)",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--from-dir",
        type=Path,
        metavar="DIR",
        help="take the files from this folder, by name, instead of downloading them",
    )
    source.add_argument(
        "--mirror",
        metavar="URL",
        help="download the files, by name, from this address instead of that of their makers",
    )
    group = parser.add_argument_group(f"with {INDEXED}ID, whose text is for training")
    for split, name in (("valid", "validation"), ("test", "test")):
        group.add_argument(
            f"--{split}", nargs="+", default=[], metavar="ID", help=f"corpora that are {name} sets"
        )
    group.add_argument(
        "--held-out",
        type=positive,
        metavar="N",
        help="take so many sentence pairs of a pair, at most a twentieth, for each set that it lacks",
    )
    options = parser.parse_args(arguments)
    if any(name.startswith(INDEXED) for name in options.corpus):
        fetch_from_index(options)
    else:
        fetch_release(options)


def corpus_name(word: str) -> str:
    """The name of a corpus, or the ID of one with what comes before it."""
    if word not in CATALOGUE and not word.startswith(INDEXED):
        known = ", ".join(map(repr, CATALOGUE))
        raise ArgumentTypeError(f"invalid choice: '{word}' (choose from {known}, or write {INDEXED}ID)")
    return word


def fetch_release(options: Namespace) -> None:
    if len(options.corpus) > 1:
        raise WrongUse(f"one corpus is fetched at a time, not {' and '.join(options.corpus)}")
    refuse(options, INDEX_OPTIONS, f"corpora that are named by {INDEXED}ID")
    corpus = for_languages(CATALOGUE[options.corpus[0]], options.languages)
    if options.mirror:
        corpus = use_mirror(corpus, options.mirror)
    print(f"{corpus.licence}; see {corpus.homepage}", file=sys.stderr)
    for text in fetch(corpus, options.to, options.languages, given=options.from_dir):
        print(text)


def fetch_from_index(options: Namespace) -> None:
    refuse(options, RELEASE_OPTIONS, "a corpus that is named without an ID")
    names = {"train": options.corpus, "valid": options.valid, "test": options.test}
    if strange := [name for name in options.corpus if not name.startswith(INDEXED)]:
        raise WrongUse(f"{strange[0]} is not an ID; fetch it alone, into a folder of its own")
    from zsnmt.corpora.releases.mtdata_index import fetch_indexed

    ids = {split: [name.removeprefix(INDEXED) for name in of_split] for split, of_split in names.items()}
    counts = fetch_indexed(ids, options.to, options.languages or (), held_out=options.held_out)
    print(
        f"The licences are those of the makers, which mtdata does not list; {options.to}/sources.json says "
        "where each corpus is from and what to cite",
        file=sys.stderr,
    )
    print_by_split(counts)


def refuse(options: Namespace, names: Sequence[str], of: str) -> None:
    """`WrongUse` for options that belong to something else."""
    if given := [f"--{name.replace('_', '-')}" for name in names if getattr(options, name)]:
        raise WrongUse(f"{', '.join(given)} belongs to {of}")
