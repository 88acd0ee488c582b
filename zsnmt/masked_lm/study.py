"""The study of position encodings: a grid of conditions, systems and seeds, from text to the scores of each
run.
"""

import itertools
import sys
from functools import partial
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.masked_lm.config import StudyConfig
from zsnmt.masked_lm.runs import check_system, read_counts, score_file, start_run, updates_of
from zsnmt.masked_lm.study_data import NONE, REMEDY, prepare_condition, text_and_treebanks, tree_counts
from zsnmt.masked_lm.study_folder import Study
from zsnmt.runs.commands import recipe_command
from zsnmt.training.children import all_side_by_side
from zsnmt.training.data import hold
from zsnmt.training.fairseq_train import fairseq_train
from zsnmt.training.steps import Steps, made_from

ARCHITECTURE = "zs_bert"


def do_study(steps: Steps, study: Study, jobs: int) -> list[Path]:
    """Make the data, then train and score all runs, so many at a time; returns their folders.

    What is done already is left out. Raises `InputError` for options that fairseq refuses, and if a run
    fails, when the others are done.
    """
    if not all(study.is_scored(*run) for run in study.grid()):
        check_training(study.config)
    with hold(steps, study.folder, study.file):
        text, treebanks = text_and_treebanks(steps, study)
        for condition in study.config.conditions:
            prepare_condition(steps, study, condition, trees=text, treebanks=treebanks)
    config = study.config
    runs = [
        run for seed in config.seeds for run in itertools.product(config.conditions, config.systems, [seed])
    ]
    all_side_by_side([partial(train_and_score, steps, study, *run) for run in runs], jobs)
    return [study.run(*run) for run in runs]


def check_training(config: StudyConfig) -> None:
    """`InputError` for options that fairseq refuses, and for a layer to score that the model has not."""
    from zsnmt.training.fairseq_options import training_options  # loads fairseq

    highest = max(config.layers)
    for system in config.systems:
        last = training_options(ARCHITECTURE, training_words(config, system)).encoder_layers
        if highest > last:
            raise InputError(
                f"LAYERS names layer {highest}, and the model has {last}; name two from 0 to {last}"
            )


def train_and_score(steps: Steps, study: Study, condition: str, system: str, seed: int) -> None:
    """Make a run of the grid."""
    config, run, data = study.config, study.run(condition, system, seed), study.data(condition)
    chosen = ["--conditions", condition, "--systems", system, "--seeds", str(seed)]
    command = recipe_command("masked_lm", study.file, *chosen)
    with locked(run):
        start_run(run, study.file, condition, system=system, seed=seed, command=command)
        options = [
            *training_words(config, system),
            *length(config, data),
            "--seed",
            str(seed),
            *validation(condition),
        ]
        fairseq_train(steps, run, f"{condition}, {system}, seed {seed}", data=data, options=options)
        settings = {"layers": config.layers, "train": made_from(run, "train")}
        steps.make(
            run,
            "score",
            score_file(run),
            work=partial(score, run, data, config.layers, trees=tree_counts(study, condition)),
            inputs=[data],
            settings=settings,
        )


def training_words(config: StudyConfig, system: str) -> list[str]:
    """The options of fairseq-train that a system is trained with, in all conditions."""
    of_model = ["--arch", ARCHITECTURE, "--distributed-world-size", "1", *config.model, *config.training]
    return ["--task", "zs_masked_lm", *of_model, *check_system(system), "--criterion", "masked_lm"]


def validation(condition: str) -> list[str]:
    """The option that names the sets of validation: the first decides, the second is English alone."""
    return ["--valid-subset", "valid" if condition == NONE else "valid,valid.en"]


def length(config: StudyConfig, data: Path) -> list[str]:
    """fairseq's options for so many epochs of the data, while the rate falls to 0; none where the config
    counts updates.
    """
    if not config.epochs:
        return []
    counts = read_counts(data, REMEDY)
    updates = str(updates_of(counts, config.batch, config.epochs))  # fairseq keeps the last of them, too
    return ["--batch-size", str(config.batch), "--max-update", updates, "--total-num-update", updates]


def score(run: Path, data: Path, layers: tuple[int, int], trees: dict[str, dict] | None) -> None:
    """Score a run, and print its perplexity and its ML score (0–1)."""
    from zsnmt.masked_lm.scores import score_run  # loads PyTorch

    scores = score_run(run, data, layers, trees=trees)
    shown = {"perplexity": scores.perplexity.full, "ML score": scores.ml_score}
    print(
        ", ".join(f"{name} {value:.3g}" for name, value in shown.items() if value is not None),
        file=sys.stderr,
    )
