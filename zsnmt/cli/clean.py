"""Leave training pairs out that are not text to learn from: copies, repetitions, other languages and more.

What overlaps with a validation or test set is left out first, as by zsnmt check-overlap. The sets themselves
stay as they are.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.parallel_text import add_text_options, check_names, print_counts
from zsnmt.corpora.cleaning import ALL_RULES, parse_cleaning
from zsnmt.corpora.left_out import CLEANING_LIST, cleaning_in_words
from zsnmt.corpora.limits import parse_limits
from zsnmt.corpora.parallel_text import check_trained
from zsnmt.corpora.training_text import make_training_text
from zsnmt.errors import InputError
from zsnmt.files.records import CLEANING_FILE, read_json
from zsnmt.files.replacing import new_folder


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt clean", description=__doc__)
    add_text_options(parser)
    parser.add_argument(
        "folder",
        type=Path,
        help=f"folder to make, parallel text with {CLEANING_FILE} (counts) and {CLEANING_LIST} (every line)",
    )
    parser.add_argument(
        "--rules",
        default=str(ALL_RULES),
        help="rules to keep to, with bounds where they are to be others, as in 'copy long=500 length=3' "
        "(default: all)",
    )
    options = parser.parse_args(arguments)

    cleaning = parse_cleaning(options.rules)
    if not cleaning.rules:
        raise InputError(f"--rules names no rule; name some of {ALL_RULES}")
    check_names(options.text)
    check_trained(options.text, options.languages)
    with new_folder(options.folder) as folder:
        make_training_text(
            options.text,
            folder,
            options.languages,
            limits=parse_limits(options.pairs),
            cleaning=cleaning,
            seed=options.seed,
            workers=options.workers,
        )
        print(cleaning_in_words(folder), file=sys.stderr)
        pairs = read_json(folder / CLEANING_FILE, "clean the text again")["pairs"]
    print_counts(pairs)
