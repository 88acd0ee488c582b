"""What a student is taught with: its teacher, the run that it begins with, and its options, checked before
anything is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from zsnmt.distillation.adapted_experiment import check_directions
from zsnmt.distillation.layers import BEGINNING, write_beginning
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.student import Student, StudentOptions, checked_student, choose_options
from zsnmt.distillation.student_data import AGAIN, StudentData, options_of_data, pairs_of_epoch
from zsnmt.distillation.student_options import check_length, stretch, updates_of_epoch
from zsnmt.distillation.teacher import Teacher
from zsnmt.errors import InputError
from zsnmt.files.records import read_json
from zsnmt.inference.engines import engine_for
from zsnmt.runs.folder import CHECKPOINTS, FEW, LAST_CHECKPOINT, SYNTHETIC, direction_lists
from zsnmt.runs.start import BEGAN_WITH, TAUGHT_BY
from zsnmt.training.data import prepare_data
from zsnmt.training.experiment import Experiment
from zsnmt.training.option_words import ON_ZERO_SHOT, VALIDATED, separate, without
from zsnmt.training.steps import Steps
from zsnmt.training.team import shared_updates

ANOTHER_START = "give --start-from a run of the same text and subwords as the teacher"


@dataclass(frozen=True)
class Lesson:
    """A student that can be taught. `start`: the run that it begins with, the teacher itself unless another
    is named; `epochs`: how many it has, of all shards of its data, where that is asked for.
    """

    distillation: Distillation
    teacher: Teacher
    start: Teacher
    options: StudentOptions
    student: Student
    epochs: int | None

    @property
    def origins(self) -> dict[str, object]:
        """The models that the student goes back to, for its record."""
        begun = {BEGAN_WITH: self.start.describe()} if self.distillation.start else {}
        return {TAUGHT_BY: self.teacher.describe(), **begun}

    def record(self, data: StudentData) -> dict[str, object]:
        """What run.json of the student says besides."""
        return student_record(self.distillation, data, start=self.start, origins=self.origins)

    def words(self, run: Path, data: StudentData, seed: int) -> list[str]:
        """All options but the seed of its training in a run folder; `InputError` where a model that it goes
        back to is not what it was.
        """
        updates = updates_of_epoch(self.start, pairs_of_epoch(self.distillation, data))
        schedule = stretch(self.options.schedule, self.epochs, updates)
        begun = without_zero_shot(self.options.begun, data, self.options.later)
        of_data = options_of_data(run, self.distillation, data)
        words = replace(self.options, begun=begun).of_training(of_data, schedule)
        for each in (self.teacher, self.start):
            each.check_unchanged()
        return words + beginning_options(self.student, self.start, run, seed=seed)


def prepare_lesson(
    steps: Steps, experiment: Experiment, distillation: Distillation, options: Sequence[str]
) -> Lesson:
    """The lesson of a student, with further `options` of fairseq-train; makes the data of people's text.

    Raises `InputError` for a teacher, a student and an experiment that do not go together.
    """
    config, teacher = experiment.config, Teacher(distillation.teacher, distillation.beside)
    start = Teacher(distillation.start) if distillation.start else teacher
    check_teacher(teacher, experiment, distillation)
    check_start(start, experiment, distillation)
    chosen = choose_options(config, distillation, teacher, start=start, data=experiment.data, own=options)
    check_length(distillation.epochs, options)
    epochs = distillation.epochs and distillation.epochs * config.shards
    _ = stretch(chosen.schedule, epochs, updates_of_epoch(start, 1))  # which may refuse it
    shared_updates([*chosen.begun, *chosen.later], steps.team.size)
    if not experiment.is_adaptation:
        prepare_data(steps, experiment, chosen.later)
    teacher.check_pipeline(experiment.data)
    start.check_pipeline(experiment.data, remedy=ANOTHER_START)
    student = checked_student(chosen, distillation, teacher, start=start, experiment=experiment)
    if experiment.is_adaptation:
        check_directions(experiment.data, student.authentic, config.languages)
    return Lesson(distillation, teacher, start, options=chosen, student=student, epochs=epochs)


def without_zero_shot(begun: Sequence[str], data: StudentData, later: Sequence[str]) -> list[str]:
    """The options that a student begins with, but for that by which zero-shot directions choose checkpoints:
    where it validates none, and `later` options name no others, the training would refuse it.
    """
    untrained = {*data.validation_directions()} - {*data.authentic}
    needless = not untrained and VALIDATED not in separate(later)
    return without(begun, {ON_ZERO_SHOT} if needless else ())


def beginning_options(student: Student, start: Teacher, run: Path, *, seed: int) -> list[str]:
    """The option by which a student with other numbers of layers begins with those of a run that it has, or
    copies of them, and one with blocks that the run lacks with silent ones. They are written into its own run
    unless its training goes on. None for others.
    """
    if not any(student.growth) or student.read.finetune_from_model != str(start.model.resolve()):
        return []
    if not (run / CHECKPOINTS / LAST_CHECKPOINT).is_file():
        write_beginning(start.model, run / BEGINNING, student.growth, seed=seed)
    return ["--finetune-from-model", str(run.resolve() / BEGINNING)]


def check_teacher(teacher: Teacher, experiment: Experiment, distillation: Distillation) -> None:
    """`InputError` for a teacher that does not go with the experiment, or cannot teach as it should."""
    teacher.check_languages(experiment.file, experiment.config.languages)
    if distillation.uses:
        teacher.check_others(experiment.file)
    synthetic = distillation.synthetic
    _ = engine_for(teacher.run, filter(None, [synthetic.way]), synthetic.engine)  # which may refuse it


def check_start(start: Teacher, experiment: Experiment, distillation: Distillation) -> None:
    """`InputError` for a run whose weights no student of the experiment can begin with."""
    start.check_languages(experiment.file, experiment.config.languages, remedy=ANOTHER_START)
    if not distillation.from_scratch:
        start.check_going_on()
    elif experiment.is_adaptation:
        raise InputError(
            f"{experiment.file} says only what an adaptation has besides the run that it went on from, not "
            "how to train a model --from-scratch; leave that out"
        )


def student_record(
    distillation: Distillation, data: StudentData, *, start: Teacher, origins: Mapping[str, object]
) -> dict[str, object]:
    """What run.json of a student says besides; `origins`: the models that it goes back to."""
    before = {} if distillation.from_scratch else direction_lists(start.run)
    synthetic, few, valid = data.synthetic, data.few, data.validation_directions()
    all_few = [*dict.fromkeys([*before.get(FEW, []), *few])]
    return {
        SYNTHETIC: [*dict.fromkeys([*before.get(SYNTHETIC, []), *synthetic])],
        **({FEW: all_few} if all_few else {}),
        **origins,
        "distillation": {
            "sides": distillation.sides,
            "share": distillation.share,
            "from_scratch": distillation.from_scratch,
            **({"language_blocks": True} if distillation.language_blocks else {}),
            **({"remedy": distillation.remedy} if distillation.remedy else {}),
            **({"word_level": distillation.word_level} if distillation.word_level else {}),
            **({"few_lines": read_json(data.few_lines.record, AGAIN)} if data.few_lines else {}),
            "checkpoints_chosen_on": {
                "validation text by people": [each for each in valid if each in data.authentic],
                "held-out pairs with a synthetic source": [each for each in valid if each in synthetic],
            },
        },
    }
