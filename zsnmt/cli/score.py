"""Score translations that another toolkit made of a run's test set, to have them beside the run's own.

    zsnmt score RUN nllb --sources              # writes what to translate: nllb/sources/de-fr.txt, ...
    zsnmt score RUN nllb                        # scores nllb/de-fr.txt, ..., with a line for each of those
    zsnmt table RUN nllb
    zsnmt report RUN nllb --output page.html

The translations are raw text, as a reader is to see it. Scores are written to FOLDER/scores.json, with the
settings of the run's config where no others are given. Directions with the pivot count as supervised; what
the others are to the system one can say by --without-pivot.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import positive, seed_number
from zsnmt.cli.common.recipe import Recipe
from zsnmt.cli.common.scoring import TEST_SET, add_test_set, show
from zsnmt.languages import KINDS, SUPERVISED, UNKNOWN, kind_name
from zsnmt.runs.commands import verb_command
from zsnmt.scoring.options import add_scoring_options, given_scoring

BY_NAME = {kind_name(kind): kind for kind in KINDS if kind != SUPERVISED}


def main(arguments: Sequence[str] | None = None) -> None:
    words = sys.argv[1:] if arguments is None else arguments
    options = make_parser().parse_args(words)
    recipe = Recipe("score")
    from zsnmt.evaluation.made_elsewhere import SOURCES, OtherSystem, RunTestSet, check_place
    from zsnmt.evaluation.scored_run import settings_of  # loads PyTorch

    given = {name: getattr(options, name) for name in ("lines", *TEST_SET)}
    folder: Path = options.translations
    check_place(folder)
    test_set = RunTestSet(
        options.run, settings_of(options.run, recipe.variables, given_scoring(options) | given)
    )
    if options.sources:
        for path in test_set.write_sources(folder / SOURCES):
            print(path)
        return

    system = OtherSystem(
        options.name or folder.resolve().name,
        seed=options.seed,
        kind=BY_NAME[options.without_pivot],
        command=verb_command("score", *words),
    )
    translations = test_set.read(folder)
    path = test_set.keep(folder, translations, test_set.score(translations, system, show))
    print(f"wrote {path}; beside the run's own: {verb_command('table', options.run, folder)}")


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt score", description=__doc__)
    parser.add_argument(
        "run", type=Path, metavar="RUN", help="run made by zsnmt train, or an export: its test set is taken"
    )
    parser.add_argument(
        "translations",
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
        "--name",
        type=console.folder_name,
        help="name of the system in tables (default: that of the folder)",
    )
    parser.add_argument(
        "--seed", type=seed_number, default=1, help="seed of its training, where it has several (default: 1)"
    )
    parser.add_argument(
        "--without-pivot",
        choices=[*BY_NAME],
        default=kind_name(UNKNOWN),
        help="what directions without the pivot are to it: zero-shot, no text was trained on; zero-resource, "
        "synthetic text; few-shot, a few lines by people (default: unknown)",
    )
    add_scoring_options(parser)
    parser.add_argument(
        "--lines", type=positive, metavar="N", help="only the first N lines of the set (default: all)"
    )
    add_test_set(parser)
    return parser
