"""The same as `zsnmt check`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["check", *sys.argv[1:]])
