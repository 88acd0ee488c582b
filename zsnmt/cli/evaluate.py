"""Score runs in every direction, zero-shot ones also through the pivot, and print them side by side.

    zsnmt evaluate runs/demo/*/seed1 --report report.html
    zsnmt evaluate RUN --text FOLDER --split valid --output scores.json

Scores are written to RUN/scores.json. Settings that are not given are those of the run's config. Run it again
to go on after a stop.
"""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import output_file
from zsnmt.cli.common.comparison import show_table
from zsnmt.cli.common.recipe import Recipe, add_check
from zsnmt.cli.common.scoring import (
    TEST_SET,
    WORKERS,
    add_lines,
    add_test_set,
    chosen_pivot,
    score_runs,
    show,
)
from zsnmt.cli.common.team import add_gpus, gpus_here
from zsnmt.cli.common.words import parse_between
from zsnmt.console import WrongUse
from zsnmt.decoding.options import SEARCH_OPTIONS, add_engine_options, add_search_options, engine_choice
from zsnmt.scoring.comet import MODEL, load_package
from zsnmt.scoring.options import add_scoring_options, given_scoring


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_between(make_parser(), arguments)
    if options.comet and Path(options.comet).is_dir():  # a run that follows --comet
        options.runs, options.comet = [*options.runs, Path(options.comet)], MODEL
    elsewhere = given_elsewhere(options)
    recipe = Recipe("evaluate", options.check)
    further = {name: getattr(options, name) for name in (*SEARCH_OPTIONS, "lines", "ways")}
    given = given_scoring(options) | further | elsewhere
    engine = engine_choice(options, gpus_here(options.gpus, otherwise=WORKERS))
    if options.comet:
        load_package()  # says at once if it is not installed

    if not options.output:
        score_runs(recipe, options.runs, given, pivot=options.pivot, engine=engine)
        show_table(options.runs, options.report)
        return

    from zsnmt.evaluation.scored_run import (  # loads PyTorch
        check_before_scoring,
        score_elsewhere,
        settings_of,
    )

    (run,) = options.runs
    check_before_scoring(run)
    settings = settings_of(run, recipe.variables, given, engine=engine)
    score_elsewhere(
        run, options.output, settings, pivot=chosen_pivot(recipe, run, options.pivot), scored=show
    )


def given_elsewhere(options: Namespace) -> dict[str, object]:
    """What is said of another test set; `WrongUse` for that without a file for its scores, and for a file for
    those of several runs.
    """
    elsewhere = {name: getattr(options, name) for name in TEST_SET if getattr(options, name) is not None}
    if elsewhere and options.output is None:
        raise WrongUse(
            "--text, --split and --directions need an --output of their own: RUN/scores.json is that of the "
            "run's test set"
        )
    if options.output and (len(options.runs) > 1 or options.report):
        raise WrongUse("--output is the score file of one run, without --report")
    return elsewhere


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt evaluate", description=__doc__)
    parser.add_argument(
        "runs",
        type=Path,
        nargs="+",
        metavar="RUN",
        help="run folders made by zsnmt train, or exports of them",
    )
    parser.add_argument(
        "--pivot",
        "--pivot-run",
        metavar="RUN",
        help="run that translates through the pivot for all; or baseline, as in the paper: for each "
        "run that of zs_transformer with the same config and seed, or, where that is not trained, the first "
        "teacher of a student, such as the baseline with language blocks; or self: each run itself "
        "(default: self)",
    )
    parser.add_argument("--report", type=output_file, metavar="FILE", help="also make the report page")
    parser.add_argument(
        "--ways",
        nargs="+",
        metavar="WAY",
        help="also translate by these methods, and measure their cost: ensemble, mask, contrast, sample, "
        "search, with settings as in ensemble:through=en+de or search:beam=1 (docs/method.md); own_pivot, "
        "where another run is the --pivot, is through the pivot by each run itself; scores by other ways "
        "that are there already stay",
    )
    add_scoring_options(parser)
    add_search_options(parser, of_config=True)
    add_lines(parser)
    other = parser.add_argument_group("another test set, with --output")
    other.add_argument(
        "--output",
        type=output_file,
        metavar="FILE",
        help="score file (default: RUN/scores.json, for the test set of the run)",
    )
    add_test_set(other)
    add_engine_options(parser)
    add_gpus(parser)
    add_check(parser)
    return parser
