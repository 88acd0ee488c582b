"""Compute the figures of each layer that need no training, such as how much of the variance of token states
lies between positions.

    zsnmt probe-figures states figures.tsv

The TSV has one row per layer, and a column for each figure.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt probe-figures", description=__doc__)
    parser.add_argument("states", type=Path, help="folder made by zsnmt probe-states")
    parser.add_argument(
        "output",
        type=console.file_of_new_folder,
        help="TSV to write; one that is there is replaced at the end",
    )
    options = parser.parse_args(arguments)
    from zsnmt.report.probes.layer_figures import write_layer_figures  # loads SciPy

    print(write_layer_figures(**vars(options)))
