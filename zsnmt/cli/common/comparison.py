"""Scored runs side by side, printed and on a page."""

from collections.abc import Sequence
from pathlib import Path

from zsnmt.runs.score_file import read_scores


def show_table(runs: Sequence[Path], report: Path | None, *, in_short: bool = False) -> None:
    """Print what scored runs found and their figures side by side, or those alone that one chooses by; make
    their page where one is asked for.
    """
    from zsnmt.report.comparison import text_in_short, text_table
    from zsnmt.report.finding import finding
    from zsnmt.report.table import wrap

    scores = [read_scores(run) for run in runs]
    show = text_in_short if in_short else text_table
    table = show(scores)  # first, since it looks whether they can be compared
    print(*filter(None, [wrap(finding(scores)), table]), sep="\n\n")
    if report:
        from zsnmt.report.comparability import read_runs
        from zsnmt.report.page import write_page  # loads matplotlib

        write_page(report, read_runs(runs))


def paper_text(name: str, paths: Sequence[Path], *, markdown: bool = False) -> str:
    """A table of a paper, from run folders or kept files, for a terminal or in Markdown."""
    from zsnmt.masked_lm.report import papers
    from zsnmt.report.papers.tables import TABLES, markdown_of, text_of  # loads sacreBLEU

    paper_table = (TABLES | papers.TABLES)[name]
    return (markdown_of if markdown else text_of)(paper_table, [*map(paper_table.source.read, paths)])
