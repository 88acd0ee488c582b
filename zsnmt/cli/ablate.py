"""Train and score the systems of ablation studies and print them side by side. Run it again to go on after a
stop.

    zsnmt ablate configs/demo.conf removal_layer
    zsnmt ablate configs/iwslt17.conf variational --seeds 1 2 3
    zsnmt ablate configs/word_orders.conf encodings bias_layers --seeds 1 2 3
    zsnmt ablate configs/iwslt17.conf query --systems zs_transformer_residual --train-only --gpus 4

Studies (docs/method.md):

    query            adds the position query to the removed residual
    variational      compares baseline, removed residual and query without and with variational dropout
    removal_layer    removes the residual at each encoder layer in turn, and at several
    positions        learns the position encodings
    replacement      replaces the residual by the sentence's mean, or keeps it at random
    li_table_1       trains relative attention and its baseline in two directions
    clip_distance    varies the distance of relative attention
    encodings        varies the position encoding of the encoder
    bias_layers      varies the layers that have it
    distillation     varies what a student learns from a system's translations (zsnmt distill)
    base_grid        combines norm, place of the language tag and residual in every way
    blocks_grid      adds feed-forward blocks of the target languages, and removes that block's residual
    stage_two        trains some systems of the grid further, with each remedy
    remedies_together    trains two systems further with two remedies at once
    decoding_grid    decodes two systems by masks, contrasts and ensembles

The baseline of the same seed translates through the pivot for all systems, as in the paper.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from zsnmt import console
from zsnmt.cli.common.argument_types import output_file
from zsnmt.cli.common.comparison import paper_text, show_table
from zsnmt.cli.common.recipe import Recipe, add_check, add_jobs, add_seeds, do_all
from zsnmt.cli.common.scoring import WORKERS, score_runs
from zsnmt.cli.common.team import add_team, chosen_team, gpus_here
from zsnmt.cli.common.words import parse_between
from zsnmt.console import WrongUse
from zsnmt.decoding.options import EngineChoice
from zsnmt.runs.folder import MODEL_FILE
from zsnmt.runs.systems import DIRECTIONS
from zsnmt.scoring.comet import MODEL, load_package
from zsnmt.training.steps import Steps
from zsnmt.training.team import Team

if TYPE_CHECKING:  # which load what is heavy
    from zsnmt.runs.systems import System
    from zsnmt.training.config import Config
    from zsnmt.training.experiment import Experiment

PAPER_TABLES = {  # that a study ends with, with the published figures
    "query": "liu_table_3",
    "variational": "liu_appendix",
    "positions": "liu_section_5_5",
    "li_table_1": "li_table_1",
}


class Planned(NamedTuple):
    """A run of some studies: of a system, with a seed, in a folder. It is scored with the others of the same
    `group`: whether they are of another direction than the config's, and the ways to decode them.
    """

    system: "System"
    seed: int
    run: Path
    group: tuple[bool, tuple[str, ...]]

    @property
    def name(self) -> str:
        """Its system and seed, as its folder is called."""
        return f"{self.system.name}/seed{self.seed}"

    @property
    def stage(self) -> list[str]:
        """What of a second stage tells it from others, as options of `zsnmt distill`."""
        sides, few, remedy = self.system.sides, self.system.few_lines, self.system.remedy
        few_lines = ["--few-lines", str(few)] if few else []
        return ["--remedy", remedy] if remedy else ["--sides", sides, *few_lines]

    @property
    def about(self) -> str:
        """What it is, and whether it is there."""
        added = self.stage if self.system.sides else self.system.options
        before = ["(trained before)"] if (self.run / MODEL_FILE).is_file() else []
        return " ".join([self.system.architecture, *added, *before])


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt ablate", description=__doc__)
    parser.add_argument("config", type=Path, help="config of the experiment")
    parser.add_argument("studies", nargs="+", metavar="STUDY", help="one or more of the studies above")
    parser.add_argument(
        "--systems", nargs="+", metavar="NAME", default=[], help="only these of the systems (default: all)"
    )
    add_seeds(parser)
    parser.add_argument("--dry-run", action="store_true", help="only print what would be trained")
    parser.add_argument("--train-only", action="store_true", help="train, but do not score")
    parser.add_argument(
        "--pivot",
        metavar="RUN",
        default="baseline",
        help="as of zsnmt evaluate: the run that translates through the pivot, baseline or self (default: "
        "%(default)s)",
    )
    parser.add_argument("--comet", action="store_true", help="also score with COMET")
    parser.add_argument("--report", type=output_file, metavar="FILE", help="also make the report page")
    add_check(parser)
    add_jobs(parser)
    add_team(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_between(make_parser(), arguments)
    team = chosen_team(options)
    if options.jobs > 1 and team != Team():
        raise WrongUse(
            "--jobs gives each run a GPU of its own; leave it out where processes share each training"
        )
    if options.train_only and (options.report or options.comet):
        raise WrongUse(
            "--report and --comet are of scores, and --train-only makes none; leave one of them out"
        )
    recipe = Recipe("ablate", options.check, team)
    if not options.dry_run and recipe.join_hosts():
        return

    from zsnmt.training.experiment import read_experiment

    experiment = read_experiment(options.config, recipe.runs, recipe.variables)
    plan = plan_runs(experiment, options)
    runs: dict[tuple[bool, tuple[str, ...]], list[Path]] = {}
    for planned in plan:
        runs.setdefault(planned.group, []).append(planned.run)
    if options.report and len(runs) > 1:
        raise WrongUse(
            "these studies have models of several directions, or several ways of decoding, which one page "
            "cannot show; leave out --report, and make a page of each with zsnmt report"
        )
    if options.dry_run:
        print(f"{len(plan)} runs, in {experiment.folder}: architecture and options")
        width = max(len(planned.name) for planned in plan)
        print(*(f"{planned.name:<{width}}  {planned.about}" for planned in plan), sep="\n")
        return
    from zsnmt.distillation.study import check_place, check_study  # loads fairseq

    for each in plan:
        check_place(experiment, each.system, each.seed)
    new = [each.system for each in plan if not (each.run / MODEL_FILE).is_file()]
    check_study(experiment, new, plan[0].seed)
    if options.comet:
        load_package()  # says at once if it is not installed
    trained = [partial(train, recipe.steps, experiment, each) for each in plan if not each.system.sides]
    taught = [partial(make_student, recipe.steps, experiment, each) for each in plan if each.system.sides]
    for jobs in (trained, taught):  # these learn from some of the others
        do_all(jobs, options.jobs)
    if not options.train_only:
        score(recipe, runs, config=experiment.config, options=options)


def plan_runs(experiment: "Experiment", options: Namespace) -> list[Planned]:
    """The runs that the options ask for; `InputError` for a study or a system that there is not."""
    from zsnmt.training.studies import systems, ways_of  # loads fairseq

    return [
        Planned(
            system,
            seed,
            experiment.run(system.name, seed),
            group=(DIRECTIONS in system.options and not system.sides, ways_of(options.studies, system)),
        )
        for seed in options.seeds
        for system in systems(options.studies, experiment.config.fairseq_options, options.systems)
    ]


def score(
    recipe: Recipe,
    runs: Mapping[tuple[bool, tuple[str, ...]], Sequence[Path]],
    *,
    config: "Config",
    options: Namespace,
) -> None:
    """Score the runs of each group together, and print the tables of the papers that the studies have."""
    pivot = options.pivot if len(config.languages) > 2 else None  # else nothing goes through it
    engine = EngineChoice(gpus=gpus_here(options.gpus, otherwise=WORKERS))
    for (_, ways), alike in runs.items():
        given = {"ways": ways or None, "comet": MODEL if options.comet else None}
        score_runs(recipe, alike, given, pivot=pivot, engine=engine)
        show_table(alike, options.report)
    for study in dict.fromkeys(options.studies):
        if study in PAPER_TABLES:
            print("", paper_text(PAPER_TABLES[study], [*chain(*runs.values())]), sep="\n")


def train(steps: Steps, experiment: "Experiment", planned: Planned) -> None:
    """Train a system of one stage."""
    from zsnmt.training.train import train_run

    system = planned.system
    train_run(
        steps, experiment, system.architecture, system=system.name, seed=planned.seed, options=system.options
    )


def make_student(steps: Steps, experiment: "Experiment", planned: Planned) -> None:
    """Train the second stage of a system, from the run of its base with the same seed."""
    from zsnmt.distillation.command import command_words
    from zsnmt.distillation.rounds import distill_rounds
    from zsnmt.distillation.study import lesson_of

    distillation = lesson_of(planned.system, experiment, planned.seed)
    distill_rounds(
        steps,
        experiment,
        distillation,
        rounds=1,
        name=planned.system.name,
        seed=planned.seed,
        words=command_words(distillation, experiment.config),
    )
