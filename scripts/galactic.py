"""The same as `zsnmt galactic`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["galactic", *sys.argv[1:]])
