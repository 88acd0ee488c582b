"""`python -m zsnmt VERB ...`: the same as `zsnmt VERB ...`."""

from zsnmt.cli import main

if __name__ == "__main__":
    main()
