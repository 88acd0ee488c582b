"""The first minutes: trains the baseline, the model without the residual and a student of the baseline on
invented languages, then shows what each can do in directions that have no text. Run it again to go on after a
stop.

    zsnmt demo                          # configs/word_orders.conf
    zsnmt demo configs/demo.conf        # or another config: here more words and longer sentences
    zsnmt demo --real pt ru fi hu       # or real text: English and these languages, fetched from tatoeba.org

With --real it says beforehand how long it takes, and trains on as much text as fits in the minutes that it
is given.
"""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from zsnmt import console
from zsnmt.cli.common.recipe import Recipe, add_check
from zsnmt.console import WrongUse
from zsnmt.files.project import ROOT
from zsnmt.runs.commands import verb_command

CONFIG, MINUTES = ROOT / "configs" / "word_orders.conf", 30.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt demo", description=__doc__)
    parser.add_argument(
        "config", type=Path, nargs="?", help="config of the experiment (default: configs/word_orders.conf)"
    )
    parser.add_argument(
        "--no-student", dest="student", action="store_false", help="leave out the student (zsnmt distill)"
    )
    real = parser.add_argument_group("real text")
    real.add_argument(
        "--real",
        nargs="+",
        metavar="XX",
        help="two or more languages besides English: train on what people wrote in them on tatoeba.org",
    )
    real.add_argument(
        "--minutes",
        type=float,
        metavar="N",
        help=f"how long all may take, after the download (default: {MINUTES:g})",
    )
    real.add_argument(
        "--from-dir", type=Path, metavar="DIR", help="take the files of tatoeba.org from this folder, by name"
    )
    add_check(parser)
    options = parser.parse_args(arguments)
    check(options)
    recipe, start = Recipe("demo", options.check), monotonic()

    from zsnmt.cli.common.comparison import show_table
    from zsnmt.demo.real import languages_of, real_config, teacher_lines
    from zsnmt.demo.side_by_side import examples, train_and_score
    from zsnmt.runs.time_left import duration
    from zsnmt.training.experiment import read_experiment

    config = options.config or CONFIG
    if options.real:
        config = real_config(
            recipe.steps,
            recipe.runs,
            languages_of(options.real),
            minutes=options.minutes or MINUTES,
            given=options.from_dir,
            student=options.student,
        )
    experiment = read_experiment(config, recipe.runs, recipe.variables)
    lines = teacher_lines(experiment.config) if options.real else None
    runs = train_and_score(recipe.steps, experiment, recipe.variables, student=options.student, lines=lines)
    recipe.steps.say("test sentences in directions without training text")
    print("", *examples(experiment, [run.parent.name for run in runs]), sep="\n")
    page = experiment.folder / "report.html"
    show_table(runs, page, in_short=True)
    recipe.steps.say(f"all took {duration(monotonic() - start)}; the page to look at: {page}")
    source, target = experiment.config.languages[-1], experiment.config.languages[1]
    translate = verb_command("translate", runs[-1], "--from", source, "--to", target)
    recipe.steps.say(f"to translate more: {translate} < lines.txt")


def check(options: Namespace) -> None:
    """`WrongUse` for options of real text without it, or with a config."""
    if options.real and options.config:
        raise WrongUse(f"{options.config} is a config, but --real makes its own; leave out one of the two")
    if not options.real and (options.minutes or options.from_dir):
        raise WrongUse("--minutes and --from-dir belong to --real; name the languages behind that")
    if options.minutes is not None and not options.minutes > 0:
        raise WrongUse(f"--minutes {options.minutes:g} leaves no time to train; give more than 0")
