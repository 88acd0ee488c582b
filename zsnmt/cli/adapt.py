"""Teach a trained run the languages of a config that it lacks. Run it again to go on after a stop.

    zsnmt adapt configs/iwslt17_add_de.conf runs/iwslt17/zs_transformer_residual/seed1
    zsnmt adapt configs/iwslt17_add_de.conf RUN --frozen --adapter-dim 64

The config names the pivot, first, and the new languages. Its TRAINING says what differs from the training of
RUN, and options of fairseq-train may come after `--`. The whole model is trained, on the new text and on all
that RUN was trained on, synthetic text, too. With --frozen only the new weights are trained, on the new text
alone, and no old translation changes. The adapted run is a run folder like any other.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.adaptation.modes import FROZEN, FULL, NOISES, UNKNOWN_BOUND
from zsnmt.adaptation.settings import Adaptation
from zsnmt.cli.common.argument_types import seed_number, whole_number
from zsnmt.cli.common.recipe import Recipe, add_check
from zsnmt.cli.common.team import TEAM_OPTIONS, add_team, chosen_team
from zsnmt.cli.common.words import parse_own, remove_options, split_options, without_positionals


def main(arguments: Sequence[str] | None = None) -> None:
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    parser = make_parser()
    own, further = split_options(words)
    options = parse_own(parser, own)
    recipe = Recipe("adapt", options.check, chosen_team(options))
    if recipe.join_hosts():
        return

    from zsnmt.adaptation.adapt import adapt_run
    from zsnmt.evaluation.scored_run import score_run, settings_of
    from zsnmt.runs.commands import path_from_top, recipe_command
    from zsnmt.runs.folder import check_trained, read_record
    from zsnmt.runs.score_file import SCORES_FILE
    from zsnmt.training.experiment import read_experiment

    base = Path(options.run)
    check_trained(base)
    experiment = read_experiment(Path(options.config), recipe.runs, recipe.variables)
    base = base.resolve()
    mode = FROZEN if options.frozen else FULL
    adaptation = Adaptation(
        base,
        mode,
        options.adapter_dim,
        noise=options.noise,
        noise_scale=options.noise_scale,
        allow_unknown=options.allow_unknown,
        without_synthetic=options.without_synthetic,
    )
    record = read_record(base)
    seed = record["seed"] if options.seed is None else options.seed
    name = options.name or record["system"] + "_frozen" * options.frozen
    words = remove_options(without_positionals(parser, own, ("config", "run")), TEAM_OPTIONS)
    added = [*words, *(["--", *further] if further else [])]
    command = recipe_command("adapt", experiment.file, path_from_top(Path(options.run)), *added)

    def score_base() -> None:
        if adaptation.text and not (base / SCORES_FILE).is_file():
            score_run(recipe.steps, base, settings_of(base, recipe.variables, {}))

    run = adapt_run(
        recipe.steps,
        experiment,
        adaptation,
        name=name,
        seed=seed,
        recipe=command,
        options=further,
        begin=score_base,
    )
    recipe.steps.say(f"next: zsnmt evaluate {run}")


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt adapt", description=__doc__)
    parser.add_argument("config", help="config with the text of the new languages")
    parser.add_argument("run", metavar="RUN", help="the trained run that learns them")
    parser.add_argument(
        "--frozen", action="store_true", help="train only the rows of the new languages, and their adapters"
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
        help="how new rows begin: as the mean of the old rows times N(1, s²), plus noise of s column"
        " deviations, or unchanged",
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
        "--without-synthetic",
        action="store_true",
        help="leave out the synthetic text that RUN learned from, by which it may forget these directions",
    )
    add_check(parser)
    add_team(parser)
    return parser
