"""What a student is before its text is made: its options, its directions, and what speaks against it."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zsnmt.data.directions import directions_of, directions_with_data
from zsnmt.distillation.growth import deeper_options, growth_of
from zsnmt.distillation.layers import Growth
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.start import PlannedRun, Start
from zsnmt.distillation.student_options import (
    block_options,
    options_of_config,
    read_options,
    student_options,
    without_void,
    word_level_options,
)
from zsnmt.distillation.teacher import Teacher
from zsnmt.errors import InputError
from zsnmt.runs.remedies import remedy_options
from zsnmt.tasks.zs_translation import DEFAULT_PLACEMENT
from zsnmt.training.config import Config
from zsnmt.training.experiment import Experiment
from zsnmt.training.fairseq_options import without_replaced
from zsnmt.training.model_check import data_of_tags, named_directions, sizes_of_model
from zsnmt.training.option_words import check_own, separate


@dataclass(frozen=True)
class StudentOptions:
    """The options of a student's training but for its data; later ones override earlier ones.

    `begun`: those of the run that it begins with, or of the config; `of_config`: those that the config has
    for students; `learning`: of layers, a remedy and word-level distillation; `own`: a person's.
    """

    begun: Sequence[str]
    of_config: Sequence[str]
    learning: Sequence[str]
    own: Sequence[str]

    @property
    def schedule(self) -> list[str]:
        """Those that a schedule is stretched from."""
        return [*self.begun, *self.of_config]

    @property
    def later(self) -> list[str]:
        """All that come after those that it begins with."""
        return [*self.of_config, *self.learning, *self.own]

    def of_training(self, data: Sequence[str], stretched: Sequence[str]) -> list[str]:
        """All, with those of the data, and those that stretch the schedule."""
        return [*self.begun, *data, *self.of_config, *stretched, *self.learning, *self.own]


def choose_options(
    config: Config,
    distillation: Distillation,
    teacher: Start,
    *,
    start: Start,
    data: Path,
    own: Sequence[str] = (),
) -> StudentOptions:
    """Those of the student of a teacher, which begins with the run `start`; `own` are a person's.

    Raises `InputError` where `student_options` and `remedy_options` do.
    """
    of_config = options_of_config(config, distillation)
    later = [*of_config, *own]
    begun = without_replaced(without_void(student_options(config, distillation, start), later), later)
    learning = [
        *deeper_options(config.student_layers, distillation, start, data=data, options=own),
        *block_options(distillation, start, [*begun, *of_config]),
        *remedy_options(distillation.remedy, separate([*begun, *of_config])),
        *word_level_options(distillation, [*begun, *of_config], teacher),
    ]
    return StudentOptions(begun, of_config, learning, own=own)


@dataclass(frozen=True)
class Student:
    """A student that can be trained.

    `read`: its options as fairseq-train reads them; `growth`: what it has in other numbers than the run that
    it begins with; `authentic`: the directions that it is trained on with text by people, `known`: those that
    have such text.
    """

    read: Namespace
    growth: Growth
    authentic: Sequence[str]
    known: Sequence[str]


def checked_student(
    options: StudentOptions,
    distillation: Distillation,
    teacher: Teacher,
    *,
    start: Start,
    experiment: Experiment,
) -> Student:
    """The student with these options, which begins with the run `start`, on the data of an experiment.

    Raises `InputError` for one that cannot learn from its teacher, or cannot begin with that run.
    """
    data, languages = experiment.data, experiment.config.languages
    read = read_student(options, distillation, start, data=data)
    if distillation.word_level:
        check_tags(teacher, read)
    growth = growth_of_student(read, distillation, start)
    known, authentic = (
        authentic_directions(each, data, languages)
        for each in (read_options(read.arch, options.begun, data), read)
    )
    return Student(read, growth, authentic, known=known)


def read_student(
    options: StudentOptions, distillation: Distillation, start: Start, *, data: Path
) -> Namespace:
    """The options of a student, which begins with the run `start`, as fairseq-train reads them; `InputError`
    for those that are not a person's to say.
    """
    words = [*options.begun, *options.later]
    read = read_options(distillation.student or start.architecture, words, data)
    check_own([*options.of_config, *options.own])
    return read


def growth_of_student(read: Namespace, distillation: Distillation, start: Start) -> Growth:
    """What a student with options so read has in other numbers than the run that it begins with; `InputError`
    for one for which there is no model, or that cannot begin with that run.
    """
    sizes = sizes_of_model(read)
    return Growth() if distillation.from_scratch else growth_of(start, sizes, read)


def check_planned_student(start: PlannedRun, distillation: Distillation, config: Config) -> None:
    """`InputError`, before that run is trained, for its student for which there is no model, or that could
    not begin with it.
    """
    with data_of_tags(config.languages) as data:
        options = choose_options(config, distillation, start, start=start, data=data)
        read = read_student(options, distillation, start, data=data)
        growth_of_student(named_directions(read, config.languages, data), distillation, start)


def check_tags(teacher: Teacher, options: Namespace) -> None:
    """`InputError` for a student with these options that does not read tags as its teacher does, who cannot
    say then what the student should.
    """
    tags = options.language_tags or DEFAULT_PLACEMENT
    if tags != teacher.tags:
        raise InputError(
            f"the student has --language-tags {tags}, and its teacher {teacher.tags}: word by word a student "
            "learns from one with the same tags; give these, or leave out --word-level"
        )


def authentic_directions(options: Namespace, data: Path, languages: Sequence[str]) -> list[str]:
    """The directions that are trained on text by people."""
    return directions_of(options.lang_pairs, [*languages]) or directions_with_data(
        data, "train", [*languages]
    )
