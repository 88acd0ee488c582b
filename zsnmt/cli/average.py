"""Average another number of a trained run's best checkpoints, as a run of its own beside it.

    zsnmt average runs/mine/zs_transformer/seed1 --number 1     # the best checkpoint alone
    zsnmt evaluate runs/mine/zs_transformer/seed1 runs/mine/zs_transformer_mean_of_1/seed1

The model of a run is the mean of the checkpoints with the lowest validation loss, as many as AVERAGE of its
config says. What number is best depends on the schedule: a learning rate that falls to the end of the
training leaves little to average. Only checkpoints that the run has kept can be averaged, AVERAGE at most.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import positive


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt average", description=__doc__)
    parser.add_argument("run", nargs="+", type=Path, help="folder of a trained run")
    parser.add_argument(
        "--number", type=positive, required=True, metavar="K", help="number of its best checkpoints"
    )
    parser.add_argument(
        "--name",
        type=console.folder_name,
        help="system of the new run, the name of its folder (default: SYSTEM_mean_of_K)",
    )
    options = parser.parse_args(arguments)
    from zsnmt.runs.averaging import average_again  # loads PyTorch

    for run in options.run:
        print(average_again(run, options.number, options.name))
