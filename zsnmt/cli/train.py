"""Train a system of an experiment, from its text to the average of its best checkpoints. Run it again to go
on after a stop.

    zsnmt train configs/multi30k.conf
    zsnmt train configs/multi30k.conf zs_transformer_residual
    zsnmt train configs/multi30k.conf zs_transformer_residual --seeds 1 2 3
    zsnmt train configs/multi30k.conf zs_transformer_residual --name variational -- --variational-dropout

Or train on text of your own, in any form of docs/own_text.md: the config is made for you, and kept.

    zsnmt train FOLDER
    zsnmt train FILE.tsv
    zsnmt train FILE.tmx
    zsnmt train FOLDER --pattern 'corpus.{pair}.{language}'

Options of fairseq-train come after `--`.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.recipe import Recipe, add_check, add_seeds, add_team, chosen_team, parse_own, split_options
from zsnmt.console import WrongUse
from zsnmt.corpora.own_text.forms import reader_of

ARCHITECTURE = "zs_transformer"  # unless another is named
OWN_TEXT_OPTIONS = ("pattern", "languages", "config")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt train", description=__doc__)
    parser.add_argument("experiment", type=Path, help="config of the experiment, or text of your own")
    parser.add_argument(
        "architecture",
        nargs="?",
        default=ARCHITECTURE,
        help="architecture of the system (default: %(default)s, the baseline)",
    )
    add_seeds(parser)
    parser.add_argument(
        "--name",
        type=console.folder_name,
        help="name of the system, needed with options of its own (default: the architecture)",
    )
    add_check(parser)
    add_team(parser)
    add_own_text(parser, plan="make the config and print what it has and why, but do not train")
    own, further = split_options(sys.argv[1:] if arguments is None else arguments)
    options = parse_own(parser, own)
    if further and not options.name:
        raise WrongUse("a variant with options of its own needs a --name for its run folder")
    is_config = is_config_of(options, (*OWN_TEXT_OPTIONS, "plan"))
    recipe = Recipe("train", options.check, chosen_team(options))
    if recipe.join_hosts():
        return

    from zsnmt.runs.folder import ending_of
    from zsnmt.training.experiment import read_experiment  # takes a second to load
    from zsnmt.training.train import train_run

    config = options.experiment if is_config else make_config(recipe, options)
    if options.plan:
        return
    experiment = read_experiment(config, recipe.runs, recipe.variables)
    for seed in options.seeds:
        run = train_run(
            recipe.steps,
            experiment,
            options.architecture,
            system=options.name or options.architecture,
            seed=seed,
            options=further,
        )
        if ending := ending_of(run):
            recipe.steps.say(f"{options.name or options.architecture}, seed {seed}: {ending}")
        if ending and ending.can_learn:
            recipe.steps.say(
                f"to train it further, as long as a student: zsnmt distill {config} {run} --sides none"
            )
        recipe.steps.say(f"next: zsnmt evaluate {run}")
        if not is_config:
            pivot, *others = experiment.config.languages
            source, target = experiment.config.languages[-2:]
            via = f" --via {pivot}" if len(others) > 1 else ""
            recipe.steps.say(f"to translate: zsnmt translate {run} --from {source} --to {target}{via} < text")
            if via:
                recipe.steps.say(f"a student that also translates directly: zsnmt distill {config} {run}")


def add_own_text(parser: console.Parser, *, plan: str) -> None:
    """Add the options of a person's own text, and `--plan`, of which the help says `plan`."""
    group = parser.add_argument_group("text of your own")
    group.add_argument(
        "--pattern", help="pattern of the names of the text's files, with {language}, {pair}, {split} and *"
    )
    group.add_argument(
        "--languages", nargs="+", metavar="XX", help="languages to train, the pivot first (default: all)"
    )
    group.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="config to make (default: beside the runs of the text, with the name of its folder)",
    )
    group.add_argument("--plan", action="store_true", help=plan)


def is_config_of(options: Namespace, of_text: Sequence[str] = OWN_TEXT_OPTIONS) -> bool:
    """Whether the experiment that was given is a config, and not text.

    Raises `WrongUse` for what is neither, and for a config with options `of_text` alone.
    """
    if options.experiment.is_dir() or reader_of(options.experiment):
        return False
    if not options.experiment.exists() and options.experiment.suffix != ".conf":
        raise WrongUse(
            f"there is no {options.experiment}; give the folder of your text or the file, .tsv or .tmx, or a "
            "config"
        )
    if given := [f"--{name}" for name in of_text if getattr(options, name)]:
        raise WrongUse(
            f"{', '.join(given)} belongs to text of your own, which is a folder or a .tsv or .tmx file; "
            f"{options.experiment} is neither, and is read as a config"
        )
    return True


def make_config(recipe: Recipe, options: Namespace) -> Path:
    """The config of a person's own text, made unless it is there."""
    from zsnmt.training.own_text import OwnText, config_file, ensure_config

    text = OwnText(options.experiment, options.pattern or "", tuple(options.languages or ()))
    file = options.config or config_file(text, recipe.runs)
    steps = recipe.steps
    ensure_config(text, file, recipe.variables, runs=recipe.runs, say=steps.say, team=steps.team)
    return file
