"""Count the training pairs that have a sentence of a validation or test set, in any language, and leave
them out.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import output_file
from zsnmt.cli.common.parallel_text import add_text_options, check_names, print_counts
from zsnmt.corpora.judging import check_overlap
from zsnmt.corpora.left_out import list_overlaps, say_what_is_left_out
from zsnmt.corpora.limits import parse_limits
from zsnmt.corpora.parallel_text import check_trained
from zsnmt.corpora.training_text import make_training_text
from zsnmt.errors import InputError
from zsnmt.files.replacing import new_folder


def main(arguments: Sequence[str] | None = None) -> None:
    options = make_parser().parse_args(arguments)

    if options.pairs and not options.remove_to:
        raise InputError("--pairs says how much is written; name a folder with --remove-to")
    check_names(options.text)
    check_trained(options.text, options.languages)
    if options.remove_to:
        counts = clean(options)
    else:
        counts, overlaps = check_overlap(options.text, options.languages, options.workers)
        if options.list:
            list_overlaps(options.list, overlaps)
    print_counts(counts)


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt check-overlap", description=__doc__)
    add_text_options(parser)
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--list",
        type=output_file,
        metavar="FILE",
        help="write every overlap to FILE: training file and line, held-out file and line, sentence",
    )
    output.add_argument(
        "--remove-to",
        type=Path,
        metavar="FOLDER",
        help="write the text without overlapping training pairs to FOLDER, with overlap.json and "
        "overlap.tsv, which is such a list",
    )
    return parser


def clean(options: argparse.Namespace) -> dict:
    """Write the text without what overlaps."""
    limits = parse_limits(options.pairs)
    with new_folder(options.remove_to) as folder:
        counts = make_training_text(
            options.text, folder, options.languages, limits=limits, seed=options.seed, workers=options.workers
        )
    say_what_is_left_out(counts, options.remove_to)
    return counts
