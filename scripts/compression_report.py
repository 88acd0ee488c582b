"""The same as `zsnmt masked-lm-report`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["masked-lm-report", *sys.argv[1:]])
