"""The same as `zsnmt prepare-bert`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["prepare-bert", *sys.argv[1:]])
