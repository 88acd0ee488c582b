"""The same as `zsnmt benchmark`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["benchmark", *sys.argv[1:]])
