"""The same as `zsnmt cut-multiway`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["cut-multiway", *sys.argv[1:]])
