"""Train a model that translates directly between all languages of a text, by four trainings, and compare it
with translating through the pivot. Run it again to go on after a stop.

    zsnmt direct text/mine --processes 2              # text of your own, in any form that zsnmt train reads
    zsnmt direct configs/tatoeba_three.conf --seeds 1 2 3
    zsnmt direct configs/tatoeba_three.conf --plan    # print the commands that it stands for
    zsnmt direct runs/mine.conf --rounds 3            # and teach the student once more
    zsnmt direct runs/mine.conf --language-blocks     # weights of each language's own in the decoder

The baseline learns the text, and its translations teach a student all directions. The baseline is trained
further. Then both translate together, and the student learns from these translations as sources alone, so
that all it learns to write at last is by people. Where students learn word by word (WORD_LEVEL), it then does
so of the pairs with the pivot, too. A third round has this student for its teacher, which reads a sentence
and the pivot's beside it. docs/distillation.md says what each step brings.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt import console
from zsnmt.cli.common.own_text import add_own_text, command_of_copy, is_config_of, make_config
from zsnmt.cli.common.recipe import Recipe, add_check, add_seeds
from zsnmt.cli.common.team import add_team, check_precision_here, chosen_team, gpus_here, team_words
from zsnmt.cli.common.words import without_positionals
from zsnmt.console import WrongUse
from zsnmt.decoding.options import PRECISIONS, EngineChoice
from zsnmt.errors import InputError
from zsnmt.runs.commands import verb_command
from zsnmt.runs.systems import BASELINE, DIRECT_STUDENT, System

if TYPE_CHECKING:
    from zsnmt.training.experiment import Experiment


def main(arguments: Sequence[str] | None = None) -> None:
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    parser = make_parser()
    options = parser.parse_args(words)
    is_config = is_config_of(options)
    recipe = Recipe("direct", options.check, chosen_team(options))
    if recipe.join_hosts():
        return

    from zsnmt.cli.common.comparison import show_table
    from zsnmt.report.finding import in_every_way
    from zsnmt.report.table import wrap
    from zsnmt.runs.score_file import read_scores
    from zsnmt.training.experiment import read_experiment  # takes a second to load

    if is_config:
        config = options.experiment
    else:
        again = command_of_copy("direct", words=without_positionals(parser, words, ("experiment",)))
        config = make_config(recipe, options, again)
    experiment = read_experiment(config, recipe.runs, recipe.variables)
    system = first_system(experiment, blocks=options.language_blocks)
    check(experiment, system, options.precision)
    from zsnmt.distillation.direct import (  # loads PyTorch
        PAGE,
        Runs,
        check_planned,
        make,
        number_of,
        report_command,
        score,
    )

    if options.name in (BASELINE.name, system.name):
        raise WrongUse(
            f"--name {options.name} is the name of the baseline's runs; give the student another one"
        )
    engine = EngineChoice(precision=options.precision, gpus=gpus_here(options.gpus))
    of_seeds = [
        Runs.of(experiment, seed, options.name, rounds=options.rounds, system=system)
        for seed in options.seeds
    ]
    for runs in of_seeds:
        check_planned(experiment, runs, engine)
    if options.plan:
        team = team_words(options)
        made = [line for runs in of_seeds for line in runs.commands(experiment, engine, team)]
        print(*made, report_command(of_seeds), sep="\n")
        return
    for runs in of_seeds:
        recipe.steps.say(f"seed {runs.seed}: the first of {number_of(runs)} trainings, {runs.baseline}")
        make(recipe.steps, experiment, runs, engine=engine)
        recipe.steps.say(f"seed {runs.seed}: scoring {runs.further} and {runs.last}")
        score(recipe.steps, runs, engine=engine, variables=recipe.variables)
    last, page = [runs.last for runs in of_seeds], experiment.folder / PAGE
    show_table([*(runs.further for runs in of_seeds), *last], page, in_short=True)
    if said := in_every_way([*map(read_scores, last)]):
        print("", wrap(said), sep="\n")
    recipe.steps.say(f"the page to look at: {page}")
    say_how_to_translate(recipe, last[0], *experiment.config.languages[-2:])


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt direct", description=__doc__)
    parser.add_argument("experiment", type=Path, help="config of the experiment, or text of your own")
    add_seeds(parser)
    parser.add_argument(
        "--rounds",
        type=int,
        choices=(2, 3),
        default=2,
        help="how often a student is taught: a third time takes as long as the second did (default: 2)",
    )
    parser.add_argument(
        "--language-blocks",
        action="store_true",
        help="give the decoder a feed-forward block for each target language, in the baseline and so in all "
        "its students",
    )
    parser.add_argument(
        "--name",
        type=console.folder_name,
        help="name of the student that is taught twice; those of the runs around it begin with it, too "
        f"(default: {DIRECT_STUDENT}, or blocks_direct with --language-blocks)",
    )
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        help="of the weights where a run translates; int8, on a CPU, and float16, on a GPU, are faster, and "
        "change some translations (default: float32)",
    )
    add_check(parser)
    add_team(parser)
    add_own_text(parser, plan="print the commands that it stands for, and do not train")
    return parser


def first_system(experiment: "Experiment", *, blocks: bool) -> System:
    """The system that is trained first: the baseline, or the baseline with language `blocks`."""
    if not blocks:
        return BASELINE
    from zsnmt.training.fairseq_options import training_options  # loads fairseq
    from zsnmt.training.studies import baseline_with_blocks

    return baseline_with_blocks(training_options(BASELINE.name, experiment.config.fairseq_options))


def check(experiment: "Experiment", system: System, precision: str | None) -> None:
    """`InputError`, before the first training, for an experiment without languages to translate between, for
    options of its first `system` by which there is no model, and for a precision in which this machine does
    not translate.
    """
    from zsnmt.training.train import check_options

    config = experiment.config
    pivot, *others = config.languages
    if len(others) < 2:
        raise InputError(
            f"{experiment.file} has the languages {pivot} and {others[0]} alone, and no others to translate "
            "between; train on them with zsnmt train"
        )
    check_precision_here(precision)
    check_options(system.architecture, [*config.fairseq_options, *system.options], config.languages)


def say_how_to_translate(recipe: Recipe, run: Path, source: str, target: str) -> None:
    """The commands for text in the language `source`."""
    from zsnmt.distillation.direct import ENSEMBLE, MASK, NARROW  # loads PyTorch

    translate = verb_command("translate", run, "--from", source, "--to", target)
    recipe.steps.say(f"to translate: {translate} < lines.txt")
    recipe.steps.say(f"faster: {translate} --way {MASK} < lines.txt")
    recipe.steps.say(f"faster still, perhaps a little less good: {translate} --way {NARROW} < lines.txt")
    recipe.steps.say(f"in both ways at once, which takes longer: {translate} --way {ENSEMBLE} < lines.txt")
