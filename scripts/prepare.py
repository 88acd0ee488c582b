"""The same as `zsnmt prepare`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["prepare", *sys.argv[1:]])
