"""The same as `zsnmt report`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["report", *sys.argv[1:]])
