"""The same as `zsnmt round-trip`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["round-trip", *sys.argv[1:]])
