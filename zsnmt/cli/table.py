"""Print scored runs side by side; --markdown prints an entry for RESULTS.md. With --paper the runs may be of
several configs: each has a row in a table in the form of the paper, beside the published figures.

    zsnmt table runs/demo/*/seed*
    zsnmt table runs/iwslt17/*/seed* runs/europarl_*/*/seed* --paper liu_table_3
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.comparison import paper_text
from zsnmt.console import WrongUse
from zsnmt.report.papers import NAMES


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt table", description=__doc__)
    parser.add_argument(
        "runs", type=Path, nargs="+", help="run folders with scores.json, or score files that were kept"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="Markdown, with the command and commit of each run"
    )
    parser.add_argument("--directions", action="store_true", help="Markdown, every direction")
    parser.add_argument(
        "--paper",
        choices=NAMES,
        metavar="TABLE",
        help=f"a table of a paper, over runs of several configs, with its figures: {', '.join(NAMES)}",
    )
    parser.add_argument("--folder", type=Path, default=Path(), help="folder that the runs are in")
    options = parser.parse_args(arguments)
    if options.paper and options.directions:
        raise WrongUse("--directions is of runs side by side; liu_appendix has every direction for --paper")
    paths = [options.folder / run for run in options.runs]
    if options.paper:
        print(paper_text(options.paper, paths, markdown=options.markdown))
        return
    from zsnmt.report.comparison import every_direction, markdown_table, text_table  # loads sacreBLEU
    from zsnmt.report.papers.sources import scores_of
    from zsnmt.report.scores import own_first

    scores = own_first(map(scores_of, paths))
    if options.directions:
        print(every_direction(scores))
    else:
        print(markdown_table(scores) if options.markdown else text_table(scores))
