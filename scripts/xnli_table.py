"""The same as `zsnmt xnli-table`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["xnli-table", *sys.argv[1:]])
