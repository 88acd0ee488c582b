"""A student that learns from its teacher's translations, from their text to an averaged model."""

from collections.abc import Sequence
from pathlib import Path

from zsnmt.distillation.adapted_experiment import with_all_languages
from zsnmt.distillation.layers import BEGINNING
from zsnmt.distillation.lesson import prepare_lesson
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.student_data import make_data
from zsnmt.distillation.synthetic_text import RECORD_FILE
from zsnmt.files.locks import locked
from zsnmt.runs.start import check_same_run
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps
from zsnmt.training.train import train_and_average


def distill_run(
    steps: Steps,
    experiment: Experiment,
    distillation: Distillation,
    *,
    name: str,
    seed: int,
    recipe: str,
    options: Sequence[str] = (),
) -> Path:
    """Teach a student of an experiment, with further `options` of fairseq-train; returns its run folder.

    `recipe`: the command that makes it, for its record. What is done already is left out. Raises
    `InputError` for a teacher, a student and an experiment that do not go together.
    """
    experiment = with_all_languages(steps, experiment)
    lesson = prepare_lesson(steps, experiment, distillation, options=options)
    run = experiment.run(name, seed)
    with locked(run):
        check_same_run(run, recipe, lesson.origins)  # before everything is translated
        data = make_data(
            steps,
            experiment,
            distillation,
            teacher=lesson.teacher,
            authentic=lesson.student.authentic,
            known=lesson.student.known,
        )
        experiment.start(name, seed, command=recipe, further=lesson.record(data))
        (run / RECORD_FILE).unlink(missing_ok=True)  # it may be of another student, which was begun here
        words = lesson.words(run, data, seed)
        train_and_average(steps, experiment, run, system=name, seed=seed, options=words, data=data.main)
        (run / BEGINNING).unlink(missing_ok=True)
    return run
