"""The same as `zsnmt probe-similarity`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["probe-similarity", *sys.argv[1:]])
