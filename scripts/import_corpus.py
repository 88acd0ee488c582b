"""The same as `zsnmt import-corpus`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["import-corpus", *sys.argv[1:]])
