"""The same as `zsnmt fetch`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["fetch", *sys.argv[1:]])
