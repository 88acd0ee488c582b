"""A student that learns from its teacher's translations, from their text to an averaged model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from zsnmt.distillation.adapted_experiment import with_all_languages
from zsnmt.distillation.layers import BEGINNING
from zsnmt.distillation.lesson import prepare_lesson
from zsnmt.distillation.settings import NONE, SELF, Distillation
from zsnmt.distillation.student_data import make_data
from zsnmt.distillation.synthetic_text import RECORD_FILE
from zsnmt.distillation.teacher import Teacher
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.locks import locked
from zsnmt.runs.commands import path_from_top, recipe_command, word_from_top
from zsnmt.runs.folder import MODEL_FILE
from zsnmt.runs.grid import few_name, remedy_name
from zsnmt.runs.start import TAUGHT_BY, check_same_run
from zsnmt.runs.systems import STUDENTS, WORDS
from zsnmt.training.experiment import Experiment
from zsnmt.training.fairseq_train import without
from zsnmt.training.steps import Steps
from zsnmt.training.train import train_and_average


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
    return f"{'_'.join([student, *parts])}{begun}"


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
    fairseq-train. The run of a later round has its number in its name. In the first of several rounds a
    teacher that has learned the pivot's directions alone reads its sentences alone, also where students are
    to teach by an ensemble. The first alone begins with another run than its teacher, if it is to. Raises
    `InputError` for rounds of what translates no English.
    """
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
    first = Teacher(distillation.teacher)
    start = Teacher(distillation.start) if distillation.start else first
    name = name or default_name(distillation, start, experiment.config.word_level)
    seed = first.record["seed"] if seed is None else seed
    of_first, words_of_first = distillation, [*map(word_from_top, words)]
    distillation, words = replace(distillation, start=None), without(words_of_first, {"--start-from"})
    if rounds > 1 and distillation.synthetic.ensemble and not first.knows_others:
        steps.say(f"{first.run} has learned no other directions, and reads sentences of the pivot alone")
        of_first = replace(of_first, synthetic=replace(of_first.synthetic, way=None))
        words_of_first = without(words_of_first, {"--way"})
    commands = {
        name if number == 1 else f"{name}_round{number}": recipe_command(
            "distill",
            experiment.file,
            path_from_top(first.run),
            *(words if number > 1 else words_of_first),
            *(["--rounds", str(number)] if number > 1 else []),
            *(["--", *options] if options else []),
        )
        for number in range(1, rounds + 1)
    }
    places = {experiment.run(each, seed): command for each, command in commands.items()}
    check_places(places, first.run, start.run)
    run = distillation.teacher
    for number, (each, command) in enumerate(commands.items(), start=1):
        run = distill_run(
            steps,
            experiment,
            replace(distillation if number > 1 else of_first, teacher=run),
            name=each,
            seed=seed,
            recipe=command,
            further=options,
        )
    return run


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


def distill_run(
    steps: Steps,
    experiment: Experiment,
    distillation: Distillation,
    *,
    name: str,
    seed: int,
    recipe: str,
    further: Sequence[str] = (),
) -> Path:
    """Teach a student of an experiment, with `further` options of fairseq-train; returns its run folder.

    `recipe`: the command that makes it, for its record. What is done already is left out. Raises
    `InputError` for a teacher, a student and an experiment that do not go together.
    """
    experiment = with_all_languages(steps, experiment)
    lesson = prepare_lesson(steps, experiment, distillation, further=further)
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
        words = lesson.words(run, data)
        train_and_average(steps, experiment, run, system=name, seed=seed, options=words, data=data.main)
        (run / BEGINNING).unlink(missing_ok=True)
    return run
