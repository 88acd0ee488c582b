"""Train a model that translates directly between all languages of a text, by four trainings, and compare it
with translating through the pivot. Run it again to go on after a stop.

    zsnmt direct text/mine --processes 2              # text of your own, in any form that zsnmt train reads
    zsnmt direct configs/tatoeba_three.conf --seeds 1 2 3
    zsnmt direct configs/tatoeba_three.conf --plan    # print the commands that it stands for
    zsnmt direct runs/mine.conf --rounds 3            # and teach the student once more

The baseline learns the text, and its translations teach a student all directions. The baseline is trained
further. Then both translate together, and the student learns from these translations as sources alone, so
that all it learns to write at last is by people. Where students learn word by word (WORD_LEVEL), it then does
so of the pairs with the pivot, too. A third round has this student for its teacher, which reads a sentence
and the pivot's beside it. docs/distillation.md says what each step brings.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from zsnmt import console
from zsnmt.cli.common.own_text import add_own_text, is_config_of, make_config
from zsnmt.cli.common.recipe import Recipe, add_check, add_seeds
from zsnmt.cli.common.team import add_team, check_precision_here, chosen_team, gpus_here, team_words
from zsnmt.console import WrongUse
from zsnmt.corpora.parallel_text import directions_without_text
from zsnmt.decoding.methods.settings import OWN_PIVOT_NAME, parse_method
from zsnmt.decoding.options import PRECISIONS, EngineChoice
from zsnmt.distillation.command import command_words
from zsnmt.distillation.settings import (
    NONE,
    SOURCES,
    Distillation,
    SyntheticSettings,
    check_taught,
    choose_distillation,
)
from zsnmt.errors import InputError
from zsnmt.runs.commands import verb_command
from zsnmt.runs.systems import BASELINE, DIRECT_STUDENT, STUDENTS
from zsnmt.training.team import shared_updates

if TYPE_CHECKING:
    from zsnmt.training.config import Config
    from zsnmt.training.experiment import Experiment

MASK, NARROW, ENSEMBLE = "mask:renormalise=yes", "mask:renormalise=yes,beam=2", "ensemble"
OF_ALL_PAIRS = ["--word-distillation-pairs", "all"]
WAYS = [OWN_PIVOT_NAME, MASK, NARROW, ENSEMBLE]  # in which the last student is scored, too
PAGE = "report.html"


class TaughtRun(NamedTuple):
    """A run that is not the first: how it is taught, and with which options of fairseq-train."""

    run: Path
    distillation: Distillation
    options: Sequence[str]

    @property
    def name(self) -> str:
        """That of its system."""
        return self.run.parent.name

    def words(self, config: "Config") -> list[str]:
        """What `zsnmt distill` is told behind the config and the teacher, but for the options."""
        return command_words(self.distillation, config, name=self.name)


class Runs(NamedTuple):
    """The folders of the four trainings of a seed, or of five with a third round."""

    seed: int
    baseline: Path
    student: Path
    further: Path
    direct: Path
    third: Path | None = None

    @classmethod
    def of(cls, experiment: "Experiment", seed: int, name: str | None, *, rounds: int = 2) -> "Runs":
        """Those of an experiment; with a `name`, all but the baseline begin with it. `WrongUse` for that of
        the baseline.
        """
        further, student = f"{name or BASELINE.name}_{STUDENTS[NONE]}", name or DIRECT_STUDENT
        names = [BASELINE.name, f"{student}_first", further, student, f"{student}_third"]
        if name == BASELINE.name:
            raise WrongUse(f"--name {name} is the name of the baseline's runs; give the student another one")
        return cls(seed, *(experiment.run(each, seed) for each in names[: rounds + 2]))

    @property
    def last(self) -> Path:
        """The student of the last round."""
        return self.third or self.direct

    def taught(self, config: "Config", engine: EngineChoice) -> list[TaughtRun]:
        """All but the first, where teachers translate by an engine."""
        choose = partial(choose_distillation, config)
        alone = SyntheticSettings(identifier=config.identifier, engine=engine)
        with_student = replace(alone, engine=replace(engine, beside=(self.student,)))
        of_two_sentences = replace(alone, way=parse_method(ENSEMBLE))
        options = OF_ALL_PAIRS if config.word_level else []
        taught = [
            TaughtRun(self.student, choose(self.baseline, synthetic=alone), []),
            TaughtRun(self.further, choose(self.baseline, sides=NONE), []),
            TaughtRun(
                self.direct,
                choose(self.further, start=self.student, sides=SOURCES, synthetic=with_student),
                options,
            ),
        ]
        if self.third:
            taught.append(TaughtRun(self.third, choose(self.direct, synthetic=of_two_sentences), options))
        return taught

    def commands(self, experiment: "Experiment", engine: EngineChoice, team: Sequence[str]) -> list[str]:
        """The commands that make these runs, by the processes of `team`, and compare them."""
        config = experiment.config
        by = ["--precision", engine.precision] if engine.precision else []
        by += team if team[:1] == ["--gpus"] else []
        commands: list[Sequence[str | Path]] = [["train", experiment.file, "--seeds", str(self.seed), *team]]
        for each in self.taught(config, engine):
            further = ["--", *each.options] if each.options else []
            teacher = each.distillation.teacher
            commands.append(["distill", *team, experiment.file, teacher, *each.words(config), *further])
        commands += [
            ["evaluate", self.further, *by],
            ["evaluate", self.last, "--pivot", self.further, "--ways", *WAYS, *by],
            ["report", self.further, self.last, "--output", self.last.parents[1] / PAGE],
        ]
        return [verb_command(*map(str, words)) for words in commands]


def main(arguments: Sequence[str] | None = None) -> None:
    options = make_parser().parse_args(arguments)
    is_config = is_config_of(options)
    recipe = Recipe("direct", options.check, chosen_team(options))
    if recipe.join_hosts():
        return

    from zsnmt.cli.common.comparison import show_table
    from zsnmt.report.finding import in_every_way
    from zsnmt.report.table import wrap
    from zsnmt.runs.score_file import read_scores
    from zsnmt.training.experiment import read_experiment  # takes a second to load

    config = options.experiment if is_config else make_config(recipe, options)
    experiment = read_experiment(config, recipe.runs, recipe.variables)
    check(experiment, options.precision)
    engine = EngineChoice(precision=options.precision, gpus=gpus_here(options.gpus))
    of_seeds = [Runs.of(experiment, seed, options.name, rounds=options.rounds) for seed in options.seeds]
    if options.plan:
        team = team_words(options)
        print(*(line for runs in of_seeds for line in runs.commands(experiment, engine, team)), sep="\n")
        return
    for runs in of_seeds:
        recipe.steps.say(f"seed {runs.seed}: the first of {number_of(runs)} trainings, {runs.baseline}")
        make(recipe, experiment, runs, engine=engine)
        recipe.steps.say(f"seed {runs.seed}: scoring {runs.further} and {runs.last}")
        score(recipe, runs, engine)
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
        "--name",
        type=console.folder_name,
        help="name of the student that is taught twice; those of the runs around it begin with it, too "
        f"(default: {DIRECT_STUDENT})",
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


def check(experiment: "Experiment", precision: str | None) -> None:
    """`InputError`, before the first training, for an experiment without languages to translate between, for
    options of its trainings or its students that fairseq refuses, and for a precision in which this machine
    does not translate.
    """
    from zsnmt.training.fairseq_options import training_options  # loads fairseq

    config = experiment.config
    pivot, *others = config.languages
    if len(others) < 2:
        raise InputError(
            f"{experiment.file} has the languages {pivot} and {others[0]} alone, and no others to translate "
            "between; train on them with zsnmt train"
        )
    check_precision_here(precision)
    _ = training_options(BASELINE.name, [*config.fairseq_options, *config.distillation])


def say_how_to_translate(recipe: Recipe, run: Path, source: str, target: str) -> None:
    """The commands for text in the language `source`."""
    translate = verb_command("translate", run, "--from", source, "--to", target)
    recipe.steps.say(f"to translate: {translate} < lines.txt")
    recipe.steps.say(f"faster: {translate} --way {MASK} < lines.txt")
    recipe.steps.say(f"faster still, perhaps a little less good: {translate} --way {NARROW} < lines.txt")
    recipe.steps.say(f"in both ways at once, which takes longer: {translate} --way {ENSEMBLE} < lines.txt")


def make(recipe: Recipe, experiment: "Experiment", runs: Runs, *, engine: EngineChoice) -> None:
    """Do the trainings, each unless it is done."""
    from zsnmt.distillation.rounds import distill_rounds
    from zsnmt.training.data import prepare_data
    from zsnmt.training.train import train_run

    shared_updates(experiment.config.fairseq_options, recipe.steps.team.size)
    prepare_data(recipe.steps, experiment)
    check_taught(directions_without_text(experiment.text, experiment.config.languages), experiment.text)
    train_run(recipe.steps, experiment, BASELINE.name, system=BASELINE.name, seed=runs.seed)
    taught = runs.taught(experiment.config, engine)
    for number, each in zip(("second", "third", "fourth", "fifth"), taught):
        recipe.steps.say(f"seed {runs.seed}: the {number} of {number_of(runs)} trainings, {each.run}")
        distill_rounds(
            recipe.steps,
            experiment,
            each.distillation,
            rounds=1,
            name=each.name,
            seed=runs.seed,
            words=each.words(experiment.config),
            options=each.options,
        )
        recipe.say_ending(each.run)


def number_of(runs: Runs) -> str:
    """How many trainings there are, in a word."""
    return "five" if runs.third else "four"


def score(recipe: Recipe, runs: Runs, engine: EngineChoice) -> None:
    """Score the baseline trained further, which goes through the pivot, and the last student in all ways."""
    from zsnmt.evaluation.scored_run import score_run, settings_of  # loads PyTorch

    for run, ways, pivot in ((runs.further, None, None), (runs.last, WAYS, runs.further)):
        settings = settings_of(run, recipe.variables, {"ways": ways}, engine=engine)
        score_run(recipe.steps, run, settings, pivot=pivot)
