"""The same as `zsnmt prepare-languages`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["prepare-languages", *sys.argv[1:]])
