"""Runs scored one after the other, each direction shown as soon as it is."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zsnmt import console
from zsnmt.cli.common.argument_types import directions, positive
from zsnmt.cli.common.recipe import Recipe
from zsnmt.decoding.options import EngineChoice
from zsnmt.languages import kind_name
from zsnmt.runs.folder import check_named_once
from zsnmt.runs.scores import Result
from zsnmt.runs.systems import BASELINE

TEST_SET = "text", "split", "directions"  # options that say what is scored
WORKERS = "say by --workers how many batches are translated at once"  # where there is no GPU


def score_runs(
    recipe: Recipe, runs: Sequence[Path], given: Mapping[str, Any], *, pivot: str | None, engine: EngineChoice
) -> None:
    """Write scores.json of each run, after a look at all of them.

    `given`: settings by name, in place of those of the run's config; `pivot`: see
    `zsnmt.evaluation.scored_run.pivot_of`.
    """
    from zsnmt.evaluation.scored_run import (  # loads PyTorch
        check_before_scoring,
        newer_sets,
        other_pivot,
        score_run,
        settings_of,
    )

    check_named_once(runs)
    for run in runs:
        check_before_scoring(run, given.get("lines"))
    settings_of_runs = [settings_of(run, recipe.variables, given, engine=engine) for run in runs]
    pivots = [other_pivot(run, chosen_pivot(recipe, run, pivot)) for run in runs]
    for run, settings, by_pivot in zip(runs, settings_of_runs, pivots):
        if newer := newer_sets(run, recipe.variables):
            recipe.steps.say(
                f"{newer[0]} has changed since the text of {run} was made, which is scored; to score the "
                "new one, first give the command that trained it again, which leaves the model as it is"
            )
        score_run(recipe.steps, run, settings, pivot=by_pivot, scored=show)


def chosen_pivot(recipe: Recipe, run: Path, choice: str | None) -> Path | None:
    """What translates through the pivot for a run, as `pivot_of`; says which, where the choice is the
    baseline and that is a run of another name.
    """
    from zsnmt.evaluation.scored_run import BY_BASELINE, pivot_of  # loads PyTorch

    pivot = pivot_of(run, choice)
    if pivot and choice == BY_BASELINE and pivot.parent.name != BASELINE.name:
        recipe.steps.say(
            f"{pivot} translates through the pivot for {run}: it is the first in the chain of its teachers, "
            f"and no {BASELINE.name} with this config and seed is trained"
        )
    return pivot


def show(result: Result) -> None:
    """A line for each direction, as soon as it is scored."""
    from tqdm import tqdm

    figures, kind = result.figures, f"{kind_name(result.kind)} {result.way.phrase}"
    tqdm.write(
        f"{result.direction!s:<15}  {kind:<24}  BLEU {figures['bleu']:5.1f}  chrF++ {figures['chrf']:5.1f}  "
        f"off-target {100 * figures['off_target']:5.1f} %"
    )


def add_lines(parser: console.Parser) -> None:
    """Add `--lines`."""
    parser.add_argument(
        "--lines", type=positive, metavar="N", help="only the first N lines of the set (default: all)"
    )


def add_test_set(parser: argparse._ActionsContainer) -> None:
    """Add the options `TEST_SET`; what is not given is None."""
    parser.add_argument(
        "--text", type=Path, help="parallel text with the test set (default: that of the run)"
    )
    parser.add_argument("--split", help="name of the test set (default: test)")
    parser.add_argument("--directions", type=directions, help="only these directions, as in de-fr,fr-de")
