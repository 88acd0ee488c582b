"""Check parallel text, and print its number of sentence pairs by pair and split.

    zsnmt check text/mine                       # all that is there, in any form that zsnmt train reads
    zsnmt check mine.tmx --show 5               # and five sentence pairs of each pair side by side
    zsnmt check text/mine --pairs de-en fr-en   # these pairs must be there, in every split

For each fault it says the file, the line and what to do: up to ten faults of each pair, or with --pairs ten
in all.
"""

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import positive
from zsnmt.corpora.own_text.forms import notices, read_tables
from zsnmt.corpora.own_text.overview import Faults, Overview
from zsnmt.corpora.parallel_text import SPLITS, check_corpus
from zsnmt.errors import InputError, pass_over
from zsnmt.languages import parse_direction


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser()
    options = parser.parse_args(arguments)
    refuse_together(parser, options)
    if options.pairs:
        found, pairs = Faults(), [*map(parse_direction, options.pairs)]
        with found.also_raised():
            counts = check_corpus(options.path, pairs, options.splits or SPLITS, on_fault=found)
        refuse_faults(found.told([options.path]))
        lines = rows_of(counts)
    else:
        tables = read_tables(options.path, options.pattern, on_fault=pass_over)
        for notice in notices(options.path, tables, options.pattern):
            print(notice, file=sys.stderr)
        seen = Overview(tables, options.show or 0)
        refuse_faults(seen.faults)
        if seen.decomposed:
            print(decomposed_in_words(seen.decomposed), file=sys.stderr)
        lines = chain(rows_of(seen.pairs), examples(seen))
    print(*lines, sep="\n")


def refuse_faults(faults: Sequence[str]) -> None:
    """`InputError` where there is a fault; of several, each is told of in a line."""
    if len(faults) == 1:
        raise InputError(faults[0])
    if faults:
        print(*map(console.printable, faults), sep="\n", file=sys.stderr)
        raise InputError("the text breaks rules in the places above; mend them, and check it again")


def rows_of(counts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """A row for each pair of languages, with its number of sentence pairs in each split."""
    yield "\t".join(["pair", *counts])
    for pair in dict.fromkeys(chain.from_iterable(counts.values())):
        yield "\t".join([pair, *(str(of_split.get(pair, 0)) for of_split in counts.values())])


def decomposed_in_words(numbers: Mapping[str, int]) -> str:
    """What to do about accents that are characters of their own, of which each pair has so many."""
    listed = ", ".join(f"{pair} {number:,}" for pair, number in numbers.items())
    return (
        f"sentence pairs whose accents are characters of their own (Unicode NFD): {listed}; a model takes "
        "them for other letters than those with an accent (NFC), so convert the text, as by uconv -x any-nfc"
    )


def examples(seen: Overview) -> Iterator[str]:
    """The examples of each pair, one sentence below its translation, with a blank line before each."""
    for pair, rows in seen.examples.items():
        for row in rows:
            yield ""
            yield from (f"{language}\t{sentence}" for language, sentence in zip(pair.split("-"), row))


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt check", description=__doc__)
    parser.add_argument(
        "path",
        type=Path,
        help="folder with {split}.{src}-{tgt}.{lang} or multiway {split}.{lang}, or, without --pairs, text "
        "in another form that zsnmt train reads",
    )
    parser.add_argument("--pattern", default="", help="names of the files, as for zsnmt train")
    parser.add_argument(
        "--show", type=positive, metavar="N", help="show so many sentence pairs of each pair, at random"
    )
    parser.add_argument(
        "--pairs",
        action=console.Several,
        default=[],
        metavar="PAIR",
        help="language pairs that must be there, as in de-en fr-en",
    )
    parser.add_argument(
        "--splits",
        action=console.Several,
        default=[],
        metavar="SPLIT",
        help=f"splits that must be there, with --pairs (default: {' '.join(SPLITS)})",
    )
    return parser


def refuse_together(parser: console.Parser, options: Namespace) -> None:
    """`WrongUse` for options that do not go together."""
    if options.pairs and (options.pattern or options.show):
        parser.error("--pairs is for a folder in zsnmt's own form; leave it out with --pattern or --show")
    if options.splits and not options.pairs:
        parser.error("--splits is for --pairs; name the pairs that must be there")
