"""Teach a trained run the languages of a config that it lacks. Run it again to go on after a stop.

    zsnmt adapt FOLDER RUN                      # text of your own: the pivot of RUN, and new languages
    zsnmt adapt FILE.xlsx RUN --frozen --adapter-dim 32
    zsnmt adapt configs/iwslt17_add_de.conf runs/iwslt17/zs_transformer_residual/seed1
    zsnmt adapt configs/iwslt17_add_de.conf RUN --frozen --adapter-dim 64

For text of your own, in any form of docs/own_text.md, a config is made and kept. A config of yours names the
pivot, first, and the new languages; its TRAINING says what differs from the training of RUN, and options of
fairseq-train may come after `--`. The whole model is trained, on the new text and on all that RUN was trained
on, synthetic text, too. With --frozen only the new weights are trained, on the new text alone, and no old
translation changes. The adapted run is a run folder like any other.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from zsnmt import console
from zsnmt.adaptation.modes import FROZEN, FULL, NOISES, SHARE, UNKNOWN_BOUND
from zsnmt.adaptation.settings import Adaptation
from zsnmt.cli.common.argument_types import seed_number, whole_number
from zsnmt.cli.common.own_text import (
    OWN_TEXT_OPTIONS,
    add_own_text,
    command_of_copy,
    is_config_of,
    make_added_config,
    remove_own_text,
)
from zsnmt.cli.common.recipe import Recipe, add_check
from zsnmt.cli.common.team import TEAM_OPTIONS, add_team, chosen_team
from zsnmt.cli.common.words import parse_own, remove_options, split_options, without_positionals
from zsnmt.runs.commands import verb_command


def main(arguments: Sequence[str] | None = None) -> None:
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    parser = make_parser()
    own, further = split_options(words)
    options = parse_own(parser, own)
    options.experiment = Path(options.experiment)
    is_config = is_config_of(options, (*OWN_TEXT_OPTIONS, "plan"))
    recipe = Recipe("adapt", options.check, chosen_team(options))
    if recipe.join_hosts():
        return

    from zsnmt.adaptation.adapt import adapt_run
    from zsnmt.runs.commands import further_words, path_from_top, recipe_command
    from zsnmt.runs.folder import check_trained, read_record
    from zsnmt.training.experiment import read_experiment

    base = Path(options.run)
    check_trained(base)
    if not is_config and options.share is None and not options.frozen:
        options.share, own = SHARE, [*own, "--share", f"{SHARE:g}"]
    adaptation = chosen_adaptation(options, base.resolve())
    given = without_positionals(parser, own, ("experiment", "run"))
    words = remove_options(remove_own_text(given), TEAM_OPTIONS)
    config = options.experiment
    if not is_config:
        share = adaptation.share or SHARE
        again = command_of_copy("adapt", base, words=given, further=further)
        config = make_added_config(recipe, options, base, mode=adaptation.mode, share=share, with_copy=again)
    if options.plan:
        return
    experiment = read_experiment(config, recipe.runs, recipe.variables)
    record = read_record(adaptation.base)
    added = [path_from_top(Path(options.run)), *words, *further_words(further)]

    run = adapt_run(
        recipe.steps,
        experiment,
        adaptation,
        name=options.name or record["system"] + "_frozen" * options.frozen,
        seed=record["seed"] if options.seed is None else options.seed,
        recipe=recipe_command("adapt", experiment.file, *added),
        options=further,
        begin=partial(score_base, recipe, adaptation),
    )
    recipe.steps.say(f"next: {verb_command('evaluate', run)}")
    if not is_config:
        pivot, new = experiment.config.languages[0], experiment.config.languages[-1]
        translate = verb_command("translate", run, "--from", new, "--to", pivot)
        recipe.steps.say(f"to translate: {translate} < lines.txt")


def score_base(recipe: Recipe, adaptation: Adaptation) -> None:
    """Score the run that is adapted, unless it was, so that scores of before and after can be compared; say
    where none can be written into it.
    """
    from zsnmt.evaluation.scored_run import score_run, settings_of
    from zsnmt.runs.score_file import SCORES_FILE

    base = adaptation.base
    if adaptation.text is None or (base / SCORES_FILE).is_file():
        return
    if os.access(base, os.W_OK):
        score_run(recipe.steps, base, settings_of(base, recipe.variables, {}))
    else:
        recipe.steps.say(
            f"{base} has no scores, and none can be written there: what it translated before is not compared"
        )


def mode_of(options: Namespace) -> str:
    """What is trained, in a word."""
    return FROZEN if options.frozen else FULL


def chosen_adaptation(options: Namespace, base: Path) -> Adaptation:
    """What the options ask for, of the run `base`; `InputError` for what does not go together."""
    return Adaptation(
        base,
        mode_of(options),
        options.adapter_dim,
        noise=options.noise,
        noise_scale=options.noise_scale,
        allow_unknown=options.allow_unknown,
        without_synthetic=options.without_synthetic,
        share=options.share,
    )


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt adapt", description=__doc__)
    parser.add_argument("experiment", help="text of your own in the new languages, or a config that names it")
    parser.add_argument("run", metavar="RUN", help="the trained run that learns them")
    parser.add_argument(
        "--frozen",
        action="store_true",
        help="train only what the new languages add: rows, adapters, and feed-forward blocks where the model "
        "has them",
    )
    parser.add_argument(
        "--name",
        type=console.folder_name,
        help="name of the adapted run (default: that of RUN's system, with _frozen in that mode)",
    )
    parser.add_argument("--seed", type=seed_number, metavar="K", help="seed (default: that of RUN)")
    parser.add_argument(
        "--adapter-dim",
        type=whole_number,
        default=Adaptation.adapter_dim,
        metavar="D",
        help="with --frozen, an adapter of D dimensions after each decoder layer",
    )
    parser.add_argument(
        "--noise",
        choices=NOISES,
        default=Adaptation.noise,
        help="how new rows begin. multiplicative: the mean of the old rows, each number times one drawn from "
        "N(1, s²); additive: that mean plus noise of s deviations of the column; none: that mean",
    )
    parser.add_argument(
        "--noise-scale", type=float, default=Adaptation.noise_scale, metavar="S", help="the s of --noise"
    )
    parser.add_argument(
        "--allow-unknown",
        type=float,
        metavar="SHARE",
        help=f"share 0–1 of a file's pieces that may be unknown (default: {UNKNOWN_BOUND:g})",
    )
    parser.add_argument(
        "--share",
        type=float,
        metavar="SHARE",
        help="share 0–1 of the training pairs that have a new language, however little text that is "
        f"(default: of text of your own {SHARE:g}, with a config as much as there is)",
    )
    parser.add_argument(
        "--without-synthetic",
        action="store_true",
        help="leave out the synthetic text that RUN learned from, by which it may forget these directions",
    )
    add_check(parser)
    add_team(parser)
    add_own_text(parser, plan="make the config and print what it has and why, but do not train")
    return parser
