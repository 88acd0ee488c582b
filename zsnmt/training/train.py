"""A run of an experiment, from text to averaged model."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from zsnmt.files.locks import locked
from zsnmt.runs.checksums import check_run
from zsnmt.runs.commands import further_words, recipe_command
from zsnmt.runs.folder import CHECKPOINTS, MODEL_FILE, ending_of
from zsnmt.training.data import prepare_data
from zsnmt.training.experiment import Experiment
from zsnmt.training.fairseq_train import STEP, fairseq_train
from zsnmt.training.option_words import check_own
from zsnmt.training.steps import Steps, made_from
from zsnmt.training.team import shared_updates


def train_run(
    steps: Steps,
    experiment: Experiment,
    architecture: str,
    system: str,
    seed: int,
    options: Sequence[str] = (),
) -> Path:
    """Train a system with further options of fairseq-train; returns its run folder.

    What is done already is left out. Raises `InputError` for options that fairseq refuses, or that a team
    cannot share, before the data are made, and where another process is at work in the run.
    """
    run = experiment.run(system, seed)
    given = [*experiment.config.fairseq_options, *options]
    if not (run / MODEL_FILE).is_file():
        check_options(architecture, given, experiment.config.languages)
        shared_updates(given, steps.team.size)
    prepare_data(steps, experiment, options)
    command = train_command(experiment, architecture, system=system, seed=seed, options=options)
    with locked(run):
        experiment.start(system, seed, command=command)
        of_model = ["--arch", architecture, "--distributed-world-size", "1", *given]
        train_and_average(steps, experiment, run, system=system, seed=seed, options=of_model)
    return run


def train_command(
    experiment: Experiment, architecture: str, *, system: str, seed: int, options: Sequence[str]
) -> str:
    """The command that trains a system with further options of fairseq-train, for its record."""
    named = ["--name", system] if system != architecture else []
    words = architecture, "--seeds", str(seed), *named, *further_words(options)
    return recipe_command("train", experiment.file, *words)


def check_options(architecture: str, options: Sequence[str], languages: Sequence[str] = ()) -> None:
    """`InputError` for an architecture that does not exist, for options that fairseq refuses, and, where
    `languages` are named, the pivot first, for those by which there is no model.
    """
    from zsnmt.training.fairseq_options import training_options  # loads fairseq
    from zsnmt.training.model_check import check_model

    read = training_options(architecture, options)
    check_own(options)
    if languages:
        check_model(read, languages)


def train_and_average(
    steps: Steps,
    experiment: Experiment,
    run: Path,
    system: str,
    seed: int,
    options: Sequence[str],
    data: Path | None = None,
) -> None:
    """Train a run on the data of its experiment, or on others, and write the mean of its best checkpoints.

    Raises `InputError` where that was done before, and is damaged by now.
    """
    number = experiment.config.average
    kept = ["--keep-best-checkpoints", str(number), "--best-checkpoint-metric", "nll_loss"]
    arguments = ["--task", "zs_translation", *options, "--seed", str(seed), *kept]
    fairseq_train(steps, run, f"{system}, seed {seed}", data=data or experiment.data, options=arguments)
    settings = {"number": number, "train": made_from(run, STEP)}
    steps.make(run, "average", run / MODEL_FILE, work=partial(average, steps, run, number), settings=settings)
    check_run(run)


def average(steps: Steps, run: Path, number: int) -> None:
    """Write the mean of so many of a run's best checkpoints; says where there are fewer."""
    from zsnmt.runs.checkpoints import average_checkpoints, best_checkpoints  # loads PyTorch

    best = best_checkpoints(run / CHECKPOINTS, number)
    if len(best) < number:
        steps.say(f"AVERAGE asks for the mean of {number} checkpoints, and {run} has kept {len(best)}")
    average_checkpoints(best, run / MODEL_FILE)


def say_ending(steps: Steps, run: Path) -> None:
    """Say how the training of a run ended, where its log tells."""
    if ending := ending_of(run):
        steps.say(f"{run}: {ending}")
