"""Train and score the systems of ablation studies and print them side by side. Run it again to go on after a
stop.

    zsnmt ablate configs/demo.conf removal_layer
    zsnmt ablate configs/word_orders.conf encodings bias_layers --seeds 1 2 3

Studies (docs/method.md): removal_layer removes the residual at each encoder layer in turn, positions learns
the position encodings, replacement puts the sentence's mean, or the residual at random, in the residual's
place, clip_distance varies that of relative attention, encodings what tells the encoder its positions,
bias_layers where it does.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.recipe import Recipe, add_check, add_seeds, parse


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt ablate", description=__doc__)
    parser.add_argument("config", type=Path, help="config of the experiment")
    parser.add_argument(
        "studies",
        nargs="+",
        metavar="STUDY",
        help="removal_layer, positions, replacement, clip_distance, encodings or bias_layers",
    )
    add_seeds(parser)
    parser.add_argument("--dry-run", action="store_true", help="only print what would be trained")
    parser.add_argument(
        "--pivot", metavar="RUN", help="as of zsnmt evaluate: the run that translates through the pivot"
    )
    parser.add_argument("--comet", action="store_true", help="also score with COMET")
    parser.add_argument("--report", metavar="FILE", help="also make the page to look at")
    add_check(parser)
    options = parse(parser, arguments)
    recipe = Recipe("ablate", options.check)

    from zsnmt.cli import evaluate
    from zsnmt.runs.folder import MODEL_FILE
    from zsnmt.training.experiment import read_experiment
    from zsnmt.training.studies import systems  # loads fairseq
    from zsnmt.training.train import train_run

    experiment = read_experiment(options.config, recipe.runs, recipe.variables)
    runs = []
    for seed in options.seeds:
        for system in systems(options.studies, experiment.config.fairseq_options):
            run = experiment.run(system.name, seed)
            runs.append(str(run))
            if options.dry_run:
                before = " (trained before)" if (run / MODEL_FILE).is_file() else ""
                print(
                    f"{f'{system.name}/seed{seed}':<32} "
                    f"{' '.join([system.architecture, *system.options])}{before}"
                )
            else:
                train_run(
                    recipe.steps,
                    experiment,
                    system.architecture,
                    system=system.name,
                    seed=seed,
                    options=system.options,
                )
    if not options.dry_run:
        further = {"--pivot": options.pivot, "--report": options.report}
        words = [word for option, value in further.items() if value for word in (option, value)]
        evaluate.main([*runs, *words, *["--comet"] * options.comet, *["--check"] * options.check])
