"""The same as `zsnmt evaluate-nli`."""

import sys

from zsnmt.cli import main

if __name__ == "__main__":
    main(["evaluate-nli", *sys.argv[1:]])
