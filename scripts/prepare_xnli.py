"""The same as `zsnmt prepare-xnli`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["prepare-xnli", *sys.argv[1:]])
