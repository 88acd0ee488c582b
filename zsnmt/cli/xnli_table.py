"""Print accuracy on XNLI by position encoding and language, means over the seeds, from scored runs.

zsnmt xnli-table runs/bert_xnli [--markdown | --tsv] [--figures FOLDER]
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt xnli-table", description=__doc__)
    parser.add_argument(
        "runs", type=Path, nargs="+", help="run folders with xnli.json, or folders of a config that hold some"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="an entry for RESULTS.md")
    form.add_argument("--tsv", action="store_true", help="numbers, 0 to 1")
    parser.add_argument(
        "--figures", type=Path, metavar="FOLDER", help="also draw the table as bars: xnli.png and xnli.svg"
    )
    args = parser.parse_args(arguments)
    from zsnmt.masked_lm.report.xnli import accuracy_table, read_runs  # loads sacreBLEU
    from zsnmt.report.table import markdown_table, text_rows, tsv, wrap

    runs = read_runs(args.runs)
    table = accuracy_table(runs)
    if args.figures:
        from zsnmt.masked_lm.report.xnli_bars import accuracy_bars  # loads matplotlib
        from zsnmt.report.html import write_drawings

        write_drawings(args.figures, [accuracy_bars(runs)])
    if args.markdown or args.tsv:
        print(markdown_table(table) if args.markdown else tsv(table), end="")
    else:
        print(text_rows(table), "", wrap(table.note), sep="\n")
