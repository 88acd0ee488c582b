"""The same as `zsnmt table`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["table", *sys.argv[1:]])
