"""Compute the figures of each layer that need no training, such as how much of the variance of token states
lies between positions.

    zsnmt probe-figures states figures.tsv

The TSV has one row per layer, and a column for each figure.
"""

from collections.abc import Sequence

from zsnmt import console
from zsnmt.cli.common.states import add_states_and_table


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt probe-figures", description=__doc__)
    add_states_and_table(parser)
    options = parser.parse_args(arguments)
    from zsnmt.report.probes.layer_figures import write_layer_figures  # loads SciPy

    print(write_layer_figures(**vars(options)))
