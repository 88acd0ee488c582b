"""The same as `zsnmt export`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["export", *sys.argv[1:]])
