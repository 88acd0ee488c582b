"""Make the tables and figures of the masked-LM study of position encodings from its scored runs, and a page that shows them.

    python scripts/compression_report.py runs/bert_fake_english --output report
"""

import argparse
import sys
from pathlib import Path

from zsnmt import console
from zsnmt.masked_lm.report.page import write_report
from zsnmt.masked_lm.report.runs import read_runs
from zsnmt.masked_lm.report.tables import text_report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="run folders with compression.json, or folders of a config that hold some")
    parser.add_argument("--output", type=Path, required=True, help="folder for the page, tables and figures; it may be there")
    options = parser.parse_args()

    runs = read_runs(options.runs)
    for path in write_report(options.output, runs):
        print(path, file=sys.stderr)
    print(text_report(runs))


if __name__ == "__main__":
    console.run(main)
