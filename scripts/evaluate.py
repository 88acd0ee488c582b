"""The same as `zsnmt evaluate`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["evaluate", *sys.argv[1:]])
