"""The same as `zsnmt check-overlap`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["check-overlap", *sys.argv[1:]])
