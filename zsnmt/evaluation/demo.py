"""The first minutes: two systems side by side, and what each can do in directions that neither has seen."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.evaluation.scored_run import score_run, settings_of
from zsnmt.languages import Direction
from zsnmt.runs.folder import HYPOTHESES, hypotheses_file
from zsnmt.runs.scores import DIRECT
from zsnmt.text.lines import read_lines
from zsnmt.training.children import side_by_side
from zsnmt.training.experiment import Experiment, prepare_data
from zsnmt.training.steps import Steps
from zsnmt.training.train import train_run

SYSTEMS = ("zs_transformer", "zs_transformer_residual")
SEED = 1
WIDTH = 28  # of what stands before a sentence


def train_and_score(steps: Steps, experiment: Experiment, variables: Mapping[str, str]) -> list[Path]:
    """Train and score the systems, each in a process of its own; returns their run folders.

    Raises `InputError` if one of them fails, which says why itself.
    """
    number = len(experiment.config.languages)
    prepare_data(steps, experiment)
    steps.say(
        f"training {' '.join(SYSTEMS)} side by side; the whole logs are in "
        f"{experiment.folder}/*/seed{SEED}/train.log"
    )
    finish_all(partial(train_run, steps, experiment, system, system, SEED) for system in SYSTEMS)
    runs = [experiment.run(system, SEED) for system in SYSTEMS]
    steps.say(
        f"translating the test set in {number * (number - 1)} directions, {(number - 1) * (number - 2)} of "
        "them never seen in training"
    )
    finish_all(partial(score, steps, run, variables) for run in runs)
    return runs


def score(steps: Steps, run: Path, variables: Mapping[str, str]) -> None:
    score_run(steps, run, settings_of(run, variables, {}))


def finish_all(jobs: Iterator[Callable[[], object]]) -> None:
    if not side_by_side([*jobs], most=len(SYSTEMS)):
        raise InputError("stopped (see above); run the same command again to go on")


def examples(experiment: Experiment) -> Iterator[str]:
    """Two sentences of the test set in directions without training text, with what each system made of
    them.
    """
    languages = experiment.config.languages
    yield from example(experiment, 0, Direction(languages[1], languages[-1]))
    yield from example(experiment, 1, Direction(languages[-1], languages[1]))


def example(experiment: Experiment, number: int, direction: Direction) -> Iterator[str]:
    """A sentence of the test set, counted from 0, in both languages and in the pivot, and its
    translations.
    """
    pivot = experiment.config.languages[0]
    shown = {direction.source: "", pivot: ", the pivot", direction.target: ", as it should be"}
    yield ""
    for language, what in shown.items():
        sentence = read_lines(experiment.text / f"test.{language}")[number]
        yield f"{describe_language(experiment, language) + what:<{WIDTH}} {sentence}"
    for system in SYSTEMS:
        hypotheses = hypotheses_file(experiment.run(system, SEED) / HYPOTHESES, DIRECT, direction)
        yield f"{system:<{WIDTH}} {read_lines(hypotheses, allow_empty_lines=True)[number]}"


def describe_language(experiment: Experiment, language: str) -> str:
    """A language with its word order, which the text of artificial languages has beside it."""
    order = experiment.text / f"word_order.{language}"
    return f"{language} ({read_lines(order)[0]})" if order.is_file() else language
