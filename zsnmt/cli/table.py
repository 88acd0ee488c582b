"""Print scored runs side by side; with --markdown as an entry for RESULTS.md."""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt table", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="run folders with scores.json")
    parser.add_argument(
        "--markdown", action="store_true", help="Markdown, with the command and commit of each run"
    )
    parser.add_argument("--directions", action="store_true", help="Markdown, every direction")
    parser.add_argument("--folder", type=Path, default=Path(), help="folder that the runs are in")
    options = parser.parse_args(arguments)
    from zsnmt.report.markdown import every_direction, markdown_table, text_table  # loads sacreBLEU
    from zsnmt.runs.scores import read_scores

    scores = [read_scores(options.folder / run) for run in options.runs]
    if options.directions:
        print(every_direction(scores))
    else:
        print(markdown_table(scores) if options.markdown else text_table(scores))
