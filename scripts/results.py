"""The same as `zsnmt results`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["results", *sys.argv[1:]])
