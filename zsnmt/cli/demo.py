"""The first minutes: trains the baseline, the model without the residual and a student of the baseline on
invented languages, then shows what each can do in directions that have no text. Run it again to go on after a
stop.

    zsnmt demo                      # configs/word_orders.conf
    zsnmt demo configs/demo.conf    # or another config: here more words and longer sentences
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.recipe import Recipe, add_check
from zsnmt.files.project import ROOT


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt demo", description=__doc__)
    parser.add_argument(
        "config",
        type=Path,
        nargs="?",
        default=ROOT / "configs" / "word_orders.conf",
        help="config of the experiment",
    )
    parser.add_argument(
        "--no-student", dest="student", action="store_false", help="leave out the student (zsnmt distill)"
    )
    add_check(parser)
    options = parser.parse_args(arguments)
    recipe = Recipe("demo", options.check)

    from zsnmt.cli.evaluate import show_table
    from zsnmt.evaluation.demo import examples, train_and_score
    from zsnmt.training.experiment import read_experiment

    experiment = read_experiment(options.config, recipe.runs, recipe.variables)
    runs = train_and_score(recipe.steps, experiment, recipe.variables, student=options.student)
    recipe.steps.say("test sentences in directions without training text")
    print("", *examples(experiment, [run.parent.name for run in runs]), sep="\n")
    page = experiment.folder / "report.html"
    show_table(runs, page)
    recipe.steps.say(f"the page to look at: {page}")
    recipe.steps.say(
        f"to translate more: zsnmt translate {runs[-1]} --to {experiment.config.languages[1]} < text"
    )
