"""The four trainings by which a model translates directly between all languages of a text, or five, and how
the last of them is compared with translating through the pivot (docs/distillation.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from zsnmt.corpora.parallel_text import directions_without_text
from zsnmt.decoding.methods.settings import OWN_PIVOT_NAME, parse_method
from zsnmt.decoding.options import EngineChoice
from zsnmt.distillation.command import command_words
from zsnmt.distillation.rounds import distill_rounds, lesson_command
from zsnmt.distillation.settings import (
    NONE,
    SOURCES,
    Distillation,
    SyntheticSettings,
    check_taught,
    choose_distillation,
)
from zsnmt.distillation.start import plan_run
from zsnmt.distillation.student import check_planned_student
from zsnmt.evaluation.scored_run import score_run, settings_of
from zsnmt.runs.commands import further_words, verb_command
from zsnmt.runs.start import check_same_run
from zsnmt.runs.systems import BASELINE, STUDENTS, System, direct_student
from zsnmt.training.config import Config
from zsnmt.training.data import prepare_data
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps
from zsnmt.training.team import shared_updates
from zsnmt.training.train import say_ending, train_run

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

    def words(self, config: Config) -> list[str]:
        """What `zsnmt distill` is told behind the config and the teacher, but for the options."""
        return command_words(self.distillation, config, name=self.name)


class Runs(NamedTuple):
    """The folders of the four trainings of a seed, or of five with a third round."""

    seed: int
    system: System  # of the first run
    baseline: Path
    student: Path
    further: Path
    direct: Path
    third: Path | None = None

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        seed: int,
        name: str | None,
        *,
        rounds: int = 2,
        system: System = BASELINE,
    ) -> "Runs":
        """Those of an experiment, of which the first is of a `system`; with a `name`, all others begin with
        it.
        """
        further, student = f"{name or system.name}_{STUDENTS[NONE]}", name or direct_student(system)
        names = [system.name, f"{student}_first", further, student, f"{student}_third"]
        return cls(seed, system, *(experiment.run(each, seed) for each in names[: rounds + 2]))

    @property
    def last(self) -> Path:
        """The student of the last round."""
        return self.third or self.direct

    def taught(self, config: Config, engine: EngineChoice) -> list[TaughtRun]:
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

    def commands(self, experiment: Experiment, engine: EngineChoice, team: Sequence[str]) -> list[str]:
        """The commands that make these runs, by the processes of `team`, and score them."""
        config = experiment.config
        by = ["--precision", engine.precision] if engine.precision else []
        by += team if team[:1] == ["--gpus"] else []
        commands: list[Sequence[str | Path]] = [self.first_command(experiment.file, team)]
        for each in self.taught(config, engine):
            words = *each.words(config), *further_words(each.options)
            commands.append(["distill", *team, experiment.file, each.distillation.teacher, *words])
        commands += [
            ["evaluate", self.further, *by],
            ["evaluate", self.last, "--pivot", self.further, "--ways", *WAYS, *by],
        ]
        return [verb_command(*map(str, words)) for words in commands]

    def first_command(self, config: Path, team: Sequence[str]) -> list[str | Path]:
        """That of the first training, by the processes of `team`."""
        name, architecture, options, *_ = self.system
        named = [architecture, "--name", name] if name != BASELINE.name else []
        return ["train", config, *named, "--seeds", str(self.seed), *team, *further_words(options)]


def check_planned(experiment: Experiment, runs: Runs, engine: EngineChoice) -> None:
    """`InputError`, before the first training, for a run that could not begin with it, and where another
    command has made a run in the place of one that is to be taught.
    """
    config = experiment.config
    first = plan_run(runs.system, runs.baseline, config)
    for each in runs.taught(config, engine):
        teacher, words = each.distillation.teacher, each.words(config)
        if teacher == first.run:
            check_planned_student(first, each.distillation, config)
        command = lesson_command(experiment, teacher, words, options=each.options)
        check_same_run(each.run, command, {})


def make(steps: Steps, experiment: Experiment, runs: Runs, *, engine: EngineChoice) -> None:
    """Do the trainings, each unless it is done."""
    shared_updates(experiment.config.fairseq_options, steps.team.size)
    prepare_data(steps, experiment)
    check_taught(directions_without_text(experiment.text, experiment.config.languages), experiment.text)
    name, architecture, options, *_ = runs.system
    train_run(steps, experiment, architecture, system=name, seed=runs.seed, options=options)
    taught = runs.taught(experiment.config, engine)
    for number, each in zip(("second", "third", "fourth", "fifth"), taught):
        steps.say(f"seed {runs.seed}: the {number} of {number_of(runs)} trainings, {each.run}")
        distill_rounds(
            steps,
            experiment,
            each.distillation,
            rounds=1,
            name=each.name,
            seed=runs.seed,
            words=each.words(experiment.config),
            options=each.options,
        )
        say_ending(steps, each.run)


def report_command(of_seeds: Sequence[Runs]) -> str:
    """The command that compares the scored runs of all seeds."""
    further, last = [runs.further for runs in of_seeds], [runs.last for runs in of_seeds]
    return verb_command("report", *further, *last, "--output", last[0].parents[1] / PAGE)


def number_of(runs: Runs) -> str:
    """How many trainings there are, in a word."""
    return "five" if runs.third else "four"


def score(steps: Steps, runs: Runs, *, engine: EngineChoice, variables: Mapping[str, str]) -> None:
    """Score the baseline trained further, which goes through the pivot, and the last student in all ways."""
    for run, ways, pivot in ((runs.further, None, None), (runs.last, WAYS, runs.further)):
        settings = settings_of(run, variables, {"ways": ways}, engine=engine)
        score_run(steps, run, settings, pivot=pivot)
