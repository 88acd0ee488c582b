"""The first minutes: systems side by side, and what each can do in directions that have no text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from zsnmt.corpora.invented.gloss import Dictionary, two_lines
from zsnmt.corpora.invented.options import parse_corpus
from zsnmt.corpora.parallel_text import find_pair, number_of_lines, pairs_of_split
from zsnmt.distillation.distill import distill_run
from zsnmt.distillation.settings import BOTH, Distillation, SyntheticSettings
from zsnmt.errors import InputError
from zsnmt.evaluation.scored_run import score_run, settings_of
from zsnmt.languages import Direction
from zsnmt.processes import cores
from zsnmt.runs.commands import path_from_top, recipe_command
from zsnmt.runs.folder import HYPOTHESES, hypotheses_file
from zsnmt.runs.systems import BASELINE, RESIDUAL, STUDENTS
from zsnmt.runs.ways import DIRECT, PIVOT
from zsnmt.text.lines import read_lines
from zsnmt.training.children import side_by_side
from zsnmt.training.data import prepare_data
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps
from zsnmt.training.train import train_run

TRAINED_SYSTEMS = (BASELINE.name, RESIDUAL.name)
STUDENT = f"{BASELINE.name}_{STUDENTS[BOTH]}"
AT_ONCE = min(2, cores())  # processes
SEED = 1
WIDTH = 28  # of what stands before a sentence
LINES_SHOWN = 3  # sentences


def train_and_score(
    steps: Steps,
    experiment: Experiment,
    variables: Mapping[str, str],
    *,
    student: bool = True,
    lines: int | None = None,
) -> list[Path]:
    """Train and score the systems, each in a process of its own; returns their run folders.

    The baseline's `student` is trained while the others are scored, on `lines` lines of each direction at
    most, and the baseline translates through the pivot for all; without a student each does so itself.
    Raises `InputError` if one of them fails, which says why itself.
    """
    prepare_data(steps, experiment)
    if not zero_shot(experiment):
        raise InputError(
            f"{experiment.text} has no test set between two languages other than "
            f"{experiment.config.languages[0]}, on which the demo shows its systems; add one, such as "
            "test.de-fr.de and test.de-fr.fr, or use zsnmt train and zsnmt evaluate"
        )
    steps.say(
        f"training {' '.join(TRAINED_SYSTEMS)} side by side; the whole logs are in "
        f"{experiment.folder}/*/seed{SEED}/train.log"
    )
    finish_all([partial(train_run, steps, experiment, system, system, SEED) for system in TRAINED_SYSTEMS])
    tested = 2 * len(pairs_of_split(experiment.text, "test", experiment.config.languages))
    meanwhile = f"; meanwhile {BASELINE.name} teaches {STUDENT} what it says in two steps" if student else ""
    steps.say(
        f"translating the test set in {tested} directions, {len(zero_shot(experiment))} of them never seen "
        f"in training{meanwhile}"
    )
    runs = [experiment.run(system, SEED) for system in TRAINED_SYSTEMS]
    pivot = runs[0] if student else None
    jobs = [partial(score, steps, run, variables, pivot=pivot) for run in runs]
    if student:
        jobs.insert(0, partial(teach, steps, experiment, variables, lines=lines))
    finish_all(jobs)
    if student:
        runs.append(experiment.run(STUDENT, SEED))
        score(steps, runs[-1], variables, pivot=pivot)
    return runs


def teach(steps: Steps, experiment: Experiment, variables: Mapping[str, str], *, lines: int | None) -> None:
    """Train a student on the baseline's translations, as `zsnmt distill` does."""
    teacher = experiment.run(BASELINE.name, SEED)
    search = settings_of(teacher, variables, {}).search
    synthetic = SyntheticSettings(lines=lines, identifier=experiment.config.identifier, search=search)
    words = ["--beam", str(search.beam), *(["--lines", str(lines)] if lines else [])]
    distill_run(
        steps,
        experiment,
        Distillation(teacher, synthetic=synthetic),
        name=STUDENT,
        seed=SEED,
        recipe=recipe_command("distill", experiment.file, path_from_top(teacher), *words),
    )


def score(steps: Steps, run: Path, variables: Mapping[str, str], *, pivot: Path | None) -> None:
    score_run(steps, run, settings_of(run, variables, {}), pivot=pivot)


def finish_all(jobs: Sequence[Callable[[], object]]) -> None:
    if not side_by_side(jobs, most=AT_ONCE):
        raise InputError("stopped (see above); run the same command again to go on")


def examples(experiment: Experiment, systems: Sequence[str]) -> Iterator[str]:
    """Sentences of the test set in directions without training text, with what each system made of them, and
    the first also through the pivot; of invented languages also what each word means.
    """
    synthetic = experiment.config.synthetic
    dictionary = Dictionary(parse_corpus(synthetic)) if synthetic else None
    ends = zero_shot(experiment)[0]
    scored = number_of_lines(find_pair(experiment.text, "test", ends.source, target=ends.target)[0])
    for number in range(min(LINES_SHOWN, scored, experiment.config.test_lines or LINES_SHOWN)):
        direction = ends if number % 2 == 0 else Direction(ends.target, ends.source)
        for label, sentence, language in example(experiment, systems, number, direction=direction):
            if dictionary is None:
                yield f"{label:<{WIDTH}} {sentence}"
            else:
                words, meanings = two_lines(dictionary.interlinear(sentence, language))
                yield f"{label:<{WIDTH}} {words}".rstrip()
                yield f"{'':<{WIDTH}} {meanings}".rstrip()
        yield ""


def zero_shot(experiment: Experiment) -> list[Direction]:
    """The directions without training text that have a test set; the first is that between the languages
    furthest from each other in the config.
    """
    pivot, *others = experiment.config.languages
    tested = pairs_of_split(experiment.text, "test", others)
    apart = sorted(tested, key=lambda pair: others.index(pair[0]) - others.index(pair[1]))
    return [Direction(*way) for pair in apart for way in (pair, pair[::-1])]


def example(
    experiment: Experiment, systems: Sequence[str], number: int, *, direction: Direction
) -> Iterator[tuple[str, str, str]]:
    """A sentence of the test set, counted from 0, as it is and as it should be, and each system's
    translation, of the first also that through the pivot: what it is, the sentence, and the language that it
    should be in.
    """
    files = find_pair(experiment.text, "test", direction.source, target=direction.target)
    for language, what, file in zip(direction, ("", ", as it should be"), files):
        yield describe_language(experiment, language) + what, read_lines(file)[number], language
    through = f"{systems[0]}, through {experiment.config.languages[0]}"
    for label, system, way in [*((name, name, DIRECT) for name in systems), (through, systems[0], PIVOT)]:
        hypotheses = hypotheses_file(experiment.run(system, SEED) / HYPOTHESES, way, direction)
        yield label, read_lines(hypotheses, allow_empty_lines=True)[number], direction.target


def describe_language(experiment: Experiment, language: str) -> str:
    """A language with its word order, which the text of artificial languages has beside it."""
    order = experiment.text / f"word_order.{language}"
    return f"{language} ({read_lines(order)[0]})" if order.is_file() else language
