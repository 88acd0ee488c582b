"""Make the tables and figures of the masked-LM study of position encodings from its scored runs, and a page
that shows them.

zsnmt masked-lm-report runs/bert_fake_english --output report
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt masked-lm-report", description=__doc__)
    parser.add_argument(
        "runs",
        type=Path,
        nargs="+",
        help="run folders with masked_lm.json, or folders of a config that hold some",
    )
    parser.add_argument(
        "--output", type=Path, required=True, help="folder for the page, tables and figures; it may be there"
    )
    options = parser.parse_args(arguments)
    from zsnmt.masked_lm.report.page import write_report  # loads matplotlib
    from zsnmt.masked_lm.report.runs import read_runs
    from zsnmt.masked_lm.report.tables import text_report

    runs = read_runs(options.runs)
    for path in write_report(options.output, runs):
        print(path, file=sys.stderr)
    print(text_report(runs))
