"""The second stages of a study's systems: what each learns, and what speaks against the study before its
first training.
"""

from collections.abc import Iterable

from zsnmt.distillation.settings import Distillation, SyntheticSettings
from zsnmt.distillation.start import plan_run
from zsnmt.distillation.student import check_planned_student
from zsnmt.runs.systems import System
from zsnmt.training.experiment import Experiment
from zsnmt.training.train import check_options


def lesson_of(system: System, experiment: Experiment, seed: int) -> Distillation:
    """What the second stage of a system learns, from the run of its base with the same seed."""
    return Distillation(
        experiment.run(system.base, seed),
        sides=system.sides,
        few_lines=system.few_lines,
        remedy=system.remedy,
        synthetic=SyntheticSettings(identifier=experiment.config.identifier),
    )


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
