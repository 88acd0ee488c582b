"""The same as `zsnmt probe-states`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["probe-states", *sys.argv[1:]])
