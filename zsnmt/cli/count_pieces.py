"""Counts how often each language uses each piece in the training text of runs.

Translation that allows only the pieces of the target language needs these counts. Older runs do not have
them. They are written into the run, as piece_counts.tsv; the data of its training must still be there.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt count-pieces", description=__doc__)
    parser.add_argument("run", nargs="+", type=Path, help="folder of a trained run")
    options = parser.parse_args(arguments)
    from zsnmt.runs.folder import piece_counts
    from zsnmt.training.piece_counts import count_pieces_of  # loads fairseq

    for run in options.run:
        count_pieces_of(run)
        for language, counts in piece_counts(run).items():
            print(run, language, len(counts), counts.total(), sep="\t")
