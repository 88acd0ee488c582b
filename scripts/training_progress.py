"""Show fairseq's training log, read from stdin (--log-format json), as a line an epoch on stderr."""

import argparse
import sys

from zsnmt import console
from zsnmt.runs.log import progress_line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("title", help="what is trained")
    title = parser.parse_args().title
    last = ""
    for line in sys.stdin:
        if shown := progress_line(line):
            print(f"{title}: {shown}", file=sys.stderr, flush=True)
        if line.strip() and "| INFO |" not in line:
            last = line.strip()  # of a traceback, the sentence that says what is wrong
    if "Error" in last:
        print(f"{title}: {last}", file=sys.stderr)


if __name__ == "__main__":
    console.run(main)
