"""Print accuracy on XNLI by position encoding and language, means over the seeds, from scored runs.

    python scripts/xnli_table.py runs/bert_xnli [--markdown | --tsv]
"""

import argparse
from pathlib import Path

from zsnmt import console
from zsnmt.masked_lm.report.xnli import accuracy_table, read_runs
from zsnmt.report.table import markdown, text_rows, tsv, wrapped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="run folders with xnli.json, or folders of a config that hold some")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="an entry for RESULTS.md")
    form.add_argument("--tsv", action="store_true", help="numbers, 0 to 1")
    args = parser.parse_args()
    table = accuracy_table(read_runs(args.runs))
    if args.markdown or args.tsv:
        print(markdown(table) if args.markdown else tsv(table), end="")
    else:
        print(text_rows(table), "", wrapped(table.note), sep="\n")


if __name__ == "__main__":
    console.run(main)
