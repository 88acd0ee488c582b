"""Fit linear probes to the states of each layer, and measure them on sentences that they have not seen.

    zsnmt probe-classifiers states probes.tsv                            # a fifth of the sentences held out
    zsnmt probe-classifiers training-states probes.tsv --held-out states

The TSV has one row per layer and label. How languages are confused stands beside it, in probes.confusion.tsv:
one row per layer and true language, with the shares 0–1 of its tokens that are taken for each language.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.analysis.state_folder import BATCHES, LABELS, ROWS
from zsnmt.cli.common.argument_types import seed_number
from zsnmt.cli.common.states import add_states_and_table


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt probe-classifiers", description=__doc__)
    add_states_and_table(parser)
    parser.add_argument(
        "--held-out",
        type=Path,
        metavar="STATES",
        help="states of the same model for another text, to measure on (default: a fifth of the sentences)",
    )
    parser.add_argument(
        "--kind",
        choices=("published", "exact"),
        default="published",
        help="published: five epochs as in Liu et al. (2021), in batches for about 4000 updates; exact: to "
        "convergence, for few classes",
    )
    parser.add_argument(
        "--batches",
        choices=BATCHES,
        default=ROWS,
        help="what the published kind shuffles and puts into batches: rows, or whole sentences as zsnmt "
        "probe does with live states",
    )
    parser.add_argument("--labels", nargs="+", choices=LABELS, default=LABELS, help="what to predict")
    parser.add_argument("--seed", type=seed_number, default=1, help="seed of the split and of the training")
    options = parser.parse_args(arguments)
    from zsnmt.report.probes.classifiers import write_classifiers  # loads PyTorch

    print(write_classifiers(**vars(options)))
