"""The study of position encodings in masked language models: trains a grid of conditions, systems and seeds,
scores each run and draws the tables and figures. Run it again to go on after a stop.

    zsnmt masked-lm configs/bert_tiny.conf --jobs 2
    zsnmt masked-lm configs/bert_fake_english.conf --conditions same --systems "learned none" --seeds 0 42

Conditions: same (English and its vocabulary-shifted copy), none (English alone), or a language of the
config's TREEBANKS, whose word order the copy then has. Systems: position encodings, and ablations of the
learned one.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zsnmt import console
from zsnmt.cli.common.argument_types import some_words
from zsnmt.cli.common.recipe import Recipe, add_check, add_jobs, add_seeds
from zsnmt.cli.common.words import parse_between
from zsnmt.runs.systems import MASKED_LM


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt masked-lm", description=__doc__)
    parser.add_argument("config", type=Path, help="config of the study")
    add_jobs(parser)
    parser.add_argument(
        "--conditions",
        type=some_words,
        metavar="WORDS",
        help='the second languages, as in "same fi" (default: those of the config)',
    )
    explained = f'as in "learned none", of {", ".join(MASKED_LM)} (default: the config\'s)'
    parser.add_argument("--systems", type=some_words, metavar="WORDS", help=explained)
    add_seeds(parser, None)
    parser.add_argument("--dry-run", action="store_true", help="only print the grid")
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FOLDER",
        help="where tables and figures go (default: runs/CONFIG/report)",
    )
    add_check(parser)
    options = parse_between(parser, arguments)
    recipe = Recipe("masked-lm", options.check)

    from zsnmt.cli import masked_lm_report
    from zsnmt.masked_lm.config import check_systems, read_study_config
    from zsnmt.masked_lm.study import do_study
    from zsnmt.masked_lm.study_folder import Study

    chosen: dict[str, Any] = {
        "conditions": options.conditions,
        "systems": options.systems and check_systems(options.systems),
        "seeds": options.seeds,
    }
    config = read_study_config(options.config, recipe.variables)
    chosen = {key: tuple(value) for key, value in chosen.items() if value}
    config = replace(config, **chosen)
    study = Study(config, options.config, recipe.runs / options.config.stem)
    if options.dry_run:
        for condition, system, seed in study.grid():
            before = " (done before)" if study.is_scored(condition, system, seed) else ""
            print(f"{condition}/{system}/seed{seed}{before}")
        return
    runs = do_study(recipe.steps, study, options.jobs)
    masked_lm_report.main([*map(str, runs), "--output", str(options.report or study.folder / "report")])
