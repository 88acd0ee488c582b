"""Keep scores and probes of runs in docs/results/ and make all tables of README.md, RESULTS.md and docs/ from
them, and the drawings in docs/figures/: direct translation against the pivot, remedies, probes. A new config
gets a page.

zsnmt results RUN [RUN ...]               # add runs, then make all tables
zsnmt results RUN [RUN ...] --keep-only   # add runs alone; with --to FOLDER in another folder
zsnmt results                             # only make the tables
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.errors import InputError
from zsnmt.files.project import CHECKOUT, KEPT_RESULTS


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt results", description=__doc__)
    parser.add_argument(
        "runs",
        type=Path,
        nargs="*",
        help="run folders with scores.json and other measurements, or with masked_lm.json",
    )
    parser.add_argument(
        "--keep-only", action="store_true", help="keep the runs, and leave tables and drawings as they are"
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="keep a run also in place of an earlier one of its name of which more was measured; without it "
        "the earlier one stays",
    )
    parser.add_argument(
        "--to",
        type=Path,
        metavar="FOLDER",
        help="where runs are kept (default: docs/results), with --keep-only",
    )
    options = parser.parse_args(arguments)
    if options.keep_only and not options.runs:
        parser.error("--keep-only keeps runs; name some, or leave it out to make the tables")
    if options.to and not options.keep_only:
        parser.error("--to keeps runs in another folder, of which no tables are made: give --keep-only, too")
    if CHECKOUT is None and not options.to:
        raise InputError("results are kept in docs/ of a checkout; give this command in one")
    from zsnmt.results import keep_run, make_drawings, make_tables  # loads sacreBLEU and matplotlib

    for run in options.runs:
        for path in keep_run(run, options.to or KEPT_RESULTS, replace=options.replace):
            print(path)
    if not options.keep_only:
        make_tables(KEPT_RESULTS)
        make_drawings(KEPT_RESULTS)
