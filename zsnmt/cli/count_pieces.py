"""Counts how often each language uses each piece in the training text of runs.

    zsnmt count-pieces RUN
    zsnmt count-pieces RUN --coverage 1     # how much of the test set --way mask lets through

Translation that allows only the pieces of the target language needs these counts. Older runs do not have
them. They are written into the run, as piece_counts.tsv; the data of its training must still be there.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import positive


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt count-pieces", description=__doc__)
    parser.add_argument("run", nargs="+", type=Path, help="folder of a trained run")
    parser.add_argument(
        "--coverage",
        type=positive,
        metavar="PIECES",
        help="count nothing; print for each language how many different sentences its test sets have, and "
        "the shares of their pieces and of whole sentences that --way mask:pieces=PIECES can write",
    )
    parser.add_argument(
        "--text", type=Path, help="parallel text with the test set (default: that of the run)"
    )
    options = parser.parse_args(arguments)
    if options.text and not options.coverage:
        parser.error("--text has the test sets of --coverage; give that, too")
    from zsnmt.runs.folder import piece_counts

    measured = ("sentences", "of pieces", "whole") if options.coverage else ("different pieces", "pieces")
    print("run", "language", *measured, sep="\t")
    for run in options.run:
        if options.coverage:
            from zsnmt.decoding.methods.settings import Mask
            from zsnmt.evaluation.mask_coverage import mask_coverage

            for language, covered in mask_coverage(run, Mask(options.coverage), options.text).items():
                shares = f"{covered.pieces:.1%}\t{covered.whole:.1%}"
                print(run, language, covered.sentences, shares, sep="\t")
            continue
        from zsnmt.training.piece_counts import count_pieces_of  # loads fairseq

        count_pieces_of(run)
        for language, counts in piece_counts(run).items():
            print(run, language, len(counts), counts.total(), sep="\t")
