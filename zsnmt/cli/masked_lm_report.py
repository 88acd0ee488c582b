"""Make the tables and figures of the masked-LM study of position encodings from its scored runs, and a page
that shows them.

zsnmt masked-lm-report runs/bert_fake_english --output report
zsnmt masked-lm-report runs/bert_wikipedia --beside runs/bert_fake_english_orders --output report
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
        "--output", type=Path, required=True, help="folder for the page, tables and figures; it may exist"
    )
    parser.add_argument(
        "--beside",
        type=Path,
        nargs="+",
        action="append",
        default=[],
        metavar="RUN",
        help="runs of another config, to compare in Table 4; may be given once for each config",
    )
    options = parser.parse_args(arguments)
    from zsnmt.masked_lm.report.page import write_report, write_tables  # loads matplotlib
    from zsnmt.masked_lm.report.runs import check_configs, read_runs
    from zsnmt.masked_lm.report.tables import corpora_tables
    from zsnmt.masked_lm.report.text_tables import text_of, text_report

    studies = [read_runs(folders) for folders in (options.runs, *options.beside)]
    check_configs(studies)
    corpora = corpora_tables(studies) if options.beside else []
    written = write_report(options.output, studies[0]) + write_tables(options.output, corpora)
    print(*written, sep="\n", file=sys.stderr)
    print("\n\n".join([text_report(studies[0]), *map(text_of, corpora)]))
