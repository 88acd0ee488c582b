"""The same as `zsnmt translate`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["translate", *sys.argv[1:]])
