"""The same as `zsnmt probe-classifiers`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["probe-classifiers", *sys.argv[1:]])
