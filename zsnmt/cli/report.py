"""Make a page that shows scored runs side by side: tables, heat maps, training curves and examples."""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import output_file, seed_number
from zsnmt.errors import InputError
from zsnmt.report.formats import EXAMPLES, EXAMPLES_SEED, FIGURE_FORMATS, TABLE_FORMATS


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt report", description=__doc__)
    parser.add_argument(
        "runs",
        type=Path,
        nargs="+",
        help="run folders with scores.json; differences are from the baseline, or where it is not there "
        "from the first one's system",
    )
    parser.add_argument("--output", type=output_file, required=True, help="the HTML page to write")
    parser.add_argument(
        "--format",
        nargs="+",
        default=[],
        choices=[*FIGURE_FORMATS, *TABLE_FORMATS],
        help="also write figures (png, svg) and tables (md, tsv) beside the page",
    )
    parser.add_argument(
        "--examples", type=int, default=EXAMPLES, help="largest number of examples of each direction"
    )
    parser.add_argument(
        "--seed", type=seed_number, default=EXAMPLES_SEED, help="seed of the choice of examples"
    )
    parser.add_argument(
        "--text", type=Path, help="folder of the test set, where it is not the one that was scored"
    )
    options = parser.parse_args(arguments)
    if files := [run for run in options.runs if run.is_file()]:
        raise InputError(
            f"{files[0]} is a file; a page needs run folders, for its examples and curves. "
            "zsnmt table prints the tables of score files"
        )
    if options.text and not options.text.is_dir():
        raise InputError(f"{options.text} is not a folder; name the one of the test set by --text")
    from zsnmt.report.comparability import read_runs
    from zsnmt.report.page import write_beside, write_page  # loads matplotlib

    runs = read_runs(options.runs)
    write_page(options.output, runs, number=options.examples, seed=options.seed, text=options.text)
    for path in (options.output, *write_beside(options.output, runs, options.format)):
        print(path)
