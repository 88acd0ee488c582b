"""The same as `zsnmt make-synthetic-trees`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["make-synthetic-trees", *sys.argv[1:]])
