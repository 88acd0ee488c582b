"""The same as `zsnmt make-synthetic`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["make-synthetic", *sys.argv[1:]])
