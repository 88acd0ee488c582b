"""Train a system of an experiment, from text to averaged model. Run it again to go on after a stop.

    zsnmt train configs/multi30k.conf zs_transformer_residual
    zsnmt train configs/multi30k.conf zs_transformer_residual --seeds 1 2 3
    zsnmt train configs/multi30k.conf zs_transformer_residual --name variational -- --variational-dropout

Options of fairseq-train come after `--`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.recipe import Recipe, add_check, add_seeds, split_options
from zsnmt.console import WrongUse


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt train", description=__doc__)
    parser.add_argument("config", type=Path, help="config of the experiment")
    parser.add_argument("architecture", help="architecture of the system, such as zs_transformer_residual")
    add_seeds(parser)
    parser.add_argument(
        "--name", help="name of the system, needed with options of its own (default: the architecture)"
    )
    add_check(parser)
    own, further = split_options(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(own)
    if further and not options.name:
        raise WrongUse("a variant with options of its own needs a --name for its run folder")
    recipe = Recipe("train", options.check)

    from zsnmt.training.experiment import read_experiment  # takes a second to load
    from zsnmt.training.train import train_run

    experiment = read_experiment(options.config, recipe.runs, recipe.variables)
    for seed in options.seeds:
        run = train_run(
            recipe.steps,
            experiment,
            options.architecture,
            system=options.name or options.architecture,
            seed=seed,
            options=further,
        )
        recipe.steps.say(f"next: zsnmt evaluate {run}")
