"""Score translations that another toolkit made of a run's test set, to have them beside the run's own.

    zsnmt score RUN nllb --sources              # writes what to translate: nllb/sources/de-fr.txt, ...
    zsnmt score RUN nllb                        # scores nllb/de-fr.txt, ..., with a line for each of those
    zsnmt table RUN nllb
    zsnmt report RUN nllb --output page.html

The translations are raw text, as a reader is to see it; those through the pivot are in nllb/pivot.de-fr.txt.
Scores are written to FOLDER/scores.json, with the settings of the run's config where no others are given.
Directions with the pivot count as supervised; what the others are to the system --without-pivot can say.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import seed_number
from zsnmt.cli.common.recipe import Recipe
from zsnmt.cli.common.scoring import TEST_SET, add_lines, add_test_set, show
from zsnmt.errors import InputError
from zsnmt.languages import KINDS, SUPERVISED, UNKNOWN, kind_name
from zsnmt.runs.commands import verb_command
from zsnmt.runs.scores import NO_SEED
from zsnmt.scoring.options import add_scoring_options, given_scoring

BY_NAME = {kind_name(kind): kind for kind in KINDS if kind != SUPERVISED}


def main(arguments: Sequence[str] | None = None) -> None:
    words = sys.argv[1:] if arguments is None else arguments
    options = make_parser().parse_args(words)
    recipe = Recipe("score")
    from zsnmt.evaluation.made_elsewhere import SOURCES, OtherSystem, RunTestSet, check_apart_from_runs
    from zsnmt.evaluation.scored_run import settings_of  # loads PyTorch

    check_apart_from_runs(options.folder)
    further = {name: getattr(options, name) for name in ("lines", *TEST_SET)}
    settings = settings_of(options.run, recipe.variables, given_scoring(options) | further)
    test_set = RunTestSet(options.run, settings)
    if options.sources:
        for path in test_set.write_sources(options.folder / SOURCES):
            print(path)
        return

    system = OtherSystem(
        name_of(options, test_set.model.record["system"]),
        seed=options.seed,
        kind=BY_NAME[options.without_pivot],
        command=verb_command("score", *words),
    )
    translations = test_set.read(options.folder)
    path = test_set.keep(options.folder, translations, test_set.score(translations, system, show))
    print(f"wrote {path}")
    print(what_next(options))


def name_of(options: Namespace, system: str) -> str:
    """The name of the other system; `InputError` for that of the run's, with which tables would mix it up."""
    name = options.name or options.folder.resolve().name
    if name == system:
        raise InputError(f"{system} is the system of {options.run}; give the other one another --name")
    return name


def what_next(options: Namespace) -> str:
    """The table of both, if they can be compared, or why not."""
    from zsnmt.report.comparability import check_comparable
    from zsnmt.runs.score_file import read_scores

    try:
        check_comparable([read_scores(options.run), read_scores(options.folder)])
    except InputError as error:
        return f"not beside the run's own: {error}"
    return f"beside the run's own: {verb_command('table', options.run, options.folder)}"


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt score", description=__doc__)
    parser.add_argument(
        "run", type=Path, metavar="RUN", help="run made by zsnmt train, or an export: its test set is taken"
    )
    parser.add_argument(
        "folder",
        type=Path,
        metavar="FOLDER",
        help="folder of the translations: de-fr.txt and so on, a line for each line of the test set",
    )
    parser.add_argument(
        "--sources",
        action="store_true",
        help="only write what is to be translated to FOLDER/sources, in files of the same names",
    )
    parser.add_argument(
        "--name", type=console.folder_name, help="name of the system in tables (default: that of the folder)"
    )
    parser.add_argument(
        "--seed",
        type=seed_number,
        default=NO_SEED,
        metavar="N",
        help="seed of its training, where there are runs of several: differences are over the seeds that two "
        "systems have in common (default: not known)",
    )
    parser.add_argument(
        "--without-pivot",
        choices=[*BY_NAME],
        default=kind_name(UNKNOWN),
        help="what directions without the pivot are to it: zero-shot, no text was trained on; zero-resource, "
        "synthetic text; few-shot, a few lines by people (default: unknown)",
    )
    add_scoring_options(parser)
    add_lines(parser)
    add_test_set(parser)
    return parser
