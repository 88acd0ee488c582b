"""The second stages of a study's systems: what each learns, and what speaks against the study before its
first training.
"""

from collections.abc import Iterable

from zsnmt.distillation.command import command_words
from zsnmt.distillation.rounds import lesson_command
from zsnmt.distillation.settings import Distillation, SyntheticSettings
from zsnmt.distillation.start import plan_run
from zsnmt.distillation.student import check_planned_student
from zsnmt.runs.start import check_same_run
from zsnmt.runs.systems import System
from zsnmt.training.experiment import Experiment
from zsnmt.training.train import check_options, train_command


def lesson_of(system: System, experiment: Experiment, seed: int) -> Distillation:
    """What the second stage of a system learns, from the run of its base with the same seed."""
    return Distillation(
        experiment.run(system.base, seed),
        sides=system.sides,
        few_lines=system.few_lines,
        remedy=system.remedy,
        synthetic=SyntheticSettings(identifier=experiment.config.identifier),
    )


def check_place(experiment: Experiment, system: System, seed: int) -> None:
    """`InputError` where another command has made a run in the place of that of a system."""
    if system.sides:
        lesson = lesson_of(system, experiment, seed)
        words = command_words(lesson, experiment.config)
        command = lesson_command(experiment, lesson.teacher, words, options=[])
    else:
        name, architecture, options, *_ = system
        command = train_command(experiment, architecture, system=name, seed=seed, options=options)
    check_same_run(experiment.run(system.name, seed), command, {})


def check_study(experiment: Experiment, systems: Iterable[System], seed: int) -> None:
    """`InputError` for a system that has no model, and for a student that could not begin with another one of
    these systems, with that seed.
    """
    config, systems = experiment.config, [*dict.fromkeys(systems)]
    for system in systems:
        if not system.sides:
            check_options(
                system.architecture, [*config.fairseq_options, *system.options], languages=config.languages
            )
    bases = {system.base for system in systems if system.sides}
    planned = {
        system.name: plan_run(system, experiment.run(system.name, seed), config)
        for system in systems
        if system.name in bases
    }
    for system in systems:
        if system.base in planned:
            check_planned_student(planned[system.base], lesson_of(system, experiment, seed), config)
