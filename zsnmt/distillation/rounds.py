"""Students that teach one another: the first learns from a teacher, each other one from the one before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from zsnmt.distillation.distill import distill_run
from zsnmt.distillation.settings import NONE, SELF, Distillation
from zsnmt.distillation.teacher import Teacher
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.runs.commands import further_words, path_from_top, recipe_command, word_from_top
from zsnmt.runs.folder import MODEL_FILE
from zsnmt.runs.remedies import remedy_name
from zsnmt.runs.start import TAUGHT_BY, check_same_run
from zsnmt.runs.systems import STUDENTS, WORDS, few_name
from zsnmt.training.experiment import Experiment
from zsnmt.training.option_words import without
from zsnmt.training.steps import Steps


class Round(NamedTuple):
    """A student: its name, what it learns, but for the teacher of a later round, and the command that makes
    it, for its record.
    """

    name: str
    lesson: Distillation
    command: str


def distill_rounds(
    steps: Steps,
    experiment: Experiment,
    distillation: Distillation,
    *,
    rounds: int,
    name: str | None,
    seed: int | None,
    words: Sequence[str],
    options: Sequence[str] = (),
) -> Path:
    """Teach a student, and let each student be the teacher of the next; returns the last one's run folder.

    `words`: those of the command that makes the first, but for the config, the teacher and the `options` of
    fairseq-train. Raises `InputError` for rounds of what translates no English, and for runs that are in the
    place of the students.
    """
    check_rounds(distillation, rounds)
    first = Teacher(distillation.teacher)
    start = Teacher(distillation.start) if distillation.start else first
    name = name or default_name(distillation, start, experiment.config.word_level)
    seed = first.record["seed"] if seed is None else seed
    planned = plan_rounds(
        steps, experiment, distillation, teacher=first, rounds=rounds, name=name, words=words, options=options
    )
    folders = {experiment.run(each.name, seed): each.command for each in planned}
    check_places(folders, first.run, start.run)
    run = distillation.teacher
    for each in planned:
        lesson = replace(each.lesson, teacher=run)
        run = distill_run(
            steps, experiment, lesson, name=each.name, seed=seed, recipe=each.command, options=options
        )
    return run


def check_rounds(distillation: Distillation, rounds: int) -> None:
    """`InputError` for what cannot be learned in several rounds."""
    if rounds > 1 and distillation.sides == SELF:
        raise InputError(
            f"--rounds {rounds} --sides self would teach each student what it does already; leave out "
            "--rounds, or choose other sides"
        )
    if rounds > 1 and distillation.beside:
        raise InputError(
            f"--with names the runs that translate together with the teacher, and --rounds {rounds} has "
            "another teacher, too; leave one of them out, and give each round its own command"
        )


def plan_rounds(
    steps: Steps,
    experiment: Experiment,
    distillation: Distillation,
    *,
    teacher: Teacher,
    rounds: int,
    name: str,
    words: Sequence[str],
    options: Sequence[str],
) -> list[Round]:
    """The rounds of a student, of which each later one has its number in its name and its command.

    In the first of several a teacher that has learned the pivot's directions alone reads its sentences alone,
    also where students are to teach by an ensemble. The first alone begins with another run than its teacher,
    if it is to.
    """
    lesson, words = distillation, [*map(word_from_top, words)]
    later, later_words = replace(distillation, start=None), without(words, {"--start-from"})
    if rounds > 1 and distillation.synthetic.ensemble and not teacher.knows_others:
        steps.say(f"{teacher.run} has learned no other directions, and reads sentences of the pivot alone")
        lesson = replace(distillation, synthetic=replace(distillation.synthetic, way=None))
        words = without(words, {"--way"})

    def command(own: Sequence[str]) -> str:
        return lesson_command(experiment, teacher.run, own, options=options)

    return [
        Round(name, lesson, command(words)),
        *(
            Round(f"{name}_round{number}", later, command([*later_words, "--rounds", str(number)]))
            for number in range(2, rounds + 1)
        ),
    ]


def lesson_command(
    experiment: Experiment, teacher: Path, words: Sequence[str], *, options: Sequence[str]
) -> str:
    """The command by which the run `teacher` teaches a student, for its record; `words` and `options` as of
    `distill_rounds`.
    """
    further = further_words(options)
    return recipe_command("distill", experiment.file, path_from_top(teacher), *words, *further)


def default_name(distillation: Distillation, start: Teacher, word_level: float = 0.0) -> str:
    """What a student that begins with a run is called, unless told otherwise, such as
    `zs_transformer_distilled_targets`. `word_level`: that of the config's students, which have no word for it
    in their names.
    """
    begun = "_from_scratch" * distillation.from_scratch
    same = distillation.student in (None, start.architecture) and not distillation.from_scratch
    student = start.record["system"] if same else distillation.student or start.architecture
    few, remedy = distillation.few_lines, remedy_name(distillation.remedy)
    learns = few_name(few) if few else STUDENTS[distillation.sides]
    words = WORDS * (distillation.word_level not in (0, word_level))
    together = f"of_{len(distillation.beside) + 1}" * bool(distillation.beside)
    alone = remedy and not few and distillation.sides == NONE  # which is named as the grid names it
    parts = [remedy] if alone else [*filter(None, (learns, together, words, remedy))]
    blocks = ["blocks"] * distillation.language_blocks
    return f"{'_'.join([student, *blocks, *parts])}{begun}"


def check_places(commands: Mapping[Path, str], *there: Path) -> None:
    """`InputError` if a student of some rounds, the command of each by its folder, would take the place of
    a run that was there before, or finds one there of another command or, in a later round, of another
    teacher.
    """
    for run, other in product(commands, there):
        if run.resolve() == other.resolve():
            raise InputError(f"the student would take the place of {other}; give it another --name")
    for before, (run, command) in zip(commands, [*commands.items()][1:]):
        model = before / MODEL_FILE
        taught_by = {"run": str(before), "model": sha256(model) if model.is_file() else "not there yet"}
        check_same_run(run, command, {TAUGHT_BY: taught_by})
