"""Compare the sentences of each two languages in each layer: SVCCA, debiased linear CKA, nearest-neighbour
retrieval.

    zsnmt probe-similarity states similarity.tsv

The TSV has one row per layer and pair, with the values of states that are not similar, for comparison. The
command prints means over the pairs.
"""

from collections.abc import Sequence

from zsnmt import console
from zsnmt.cli.common.argument_types import seed_number
from zsnmt.cli.common.states import add_states_and_table


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt probe-similarity", description=__doc__)
    add_states_and_table(parser)
    parser.add_argument(
        "--variance",
        type=float,
        default=0.99,
        metavar="SHARE",
        help="share of the variance whose directions SVCCA keeps",
    )
    parser.add_argument(
        "--csls",
        type=int,
        metavar="K",
        dest="csls_neighbours",
        help="retrieve by CSLS with K neighbours, so that no sentence is near to all (default: by cosine)",
    )
    parser.add_argument("--seed", type=seed_number, default=1, help="seed of the Gaussians")
    options = parser.parse_args(arguments)
    from zsnmt.report.probes.similarity import write_similarities  # loads SciPy

    print(write_similarities(**vars(options)))
