"""Train a system of an experiment, from its text to the average of its best checkpoints. Run it again to go
on after a stop.

    zsnmt train configs/multi30k.conf
    zsnmt train configs/multi30k.conf zs_transformer_residual
    zsnmt train configs/multi30k.conf zs_transformer_residual --seeds 1 2 3
    zsnmt train configs/multi30k.conf zs_transformer_residual --name variational -- --variational-dropout

Or train on text of your own, in any form of docs/own_text.md: the config is made for you, and kept.

    zsnmt train FOLDER
    zsnmt train FILE.xlsx                       # or .ods, .csv, .tsv, .jsonl: a language in each column
    zsnmt train FILE.tmx
    zsnmt train FOLDER --pattern 'corpus.{pair}.{language}'

Options of fairseq-train come after `--`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.own_text import (
    OWN_TEXT_OPTIONS,
    add_own_text,
    command_of_copy,
    is_config_of,
    make_config,
)
from zsnmt.cli.common.recipe import Recipe, add_check, add_seeds
from zsnmt.cli.common.team import add_team, chosen_team
from zsnmt.cli.common.words import parse_own, split_options, without_positionals
from zsnmt.console import WrongUse
from zsnmt.runs.commands import verb_command

ARCHITECTURE = "zs_transformer"  # unless another is named


def main(arguments: Sequence[str] | None = None) -> None:
    own, further = split_options(sys.argv[1:] if arguments is None else arguments)
    parser = make_parser()
    options = parse_own(parser, own)
    if further and not options.name:
        raise WrongUse(
            "a variant with options of its own needs a --name for its run folder, such as --name variant"
        )
    is_config = is_config_of(options, (*OWN_TEXT_OPTIONS, "plan"))
    recipe = Recipe("train", options.check, chosen_team(options))
    if recipe.join_hosts():
        return

    from zsnmt.runs.folder import ending_of
    from zsnmt.training.experiment import read_experiment  # takes a second to load
    from zsnmt.training.train import check_options, train_run

    check_options(options.architecture, [])  # before a config is made
    if is_config:
        config = options.experiment
    else:
        words = without_positionals(parser, own, ("experiment", "architecture"))
        named = [options.architecture] if options.architecture != ARCHITECTURE else []
        again = command_of_copy("train", *named, words=words, further=further)
        config = make_config(recipe, options, again)
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
                "to train it further, as long as a student: "
                + verb_command("distill", config, run, "--sides", "none")
            )
        recipe.steps.say(f"next: {verb_command('evaluate', run)}")
        if not is_config:
            pivot, *others = experiment.config.languages
            source, target = experiment.config.languages[-2:]
            via = ["--via", pivot] if len(others) > 1 else []
            translate = verb_command("translate", run, "--from", source, "--to", target, *via)
            recipe.steps.say(f"to translate: {translate} < lines.txt")
            if via:
                student = verb_command("distill", config, run)
                recipe.steps.say(f"a student that also translates directly: {student}")


def make_parser() -> console.Parser:
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
    return parser
