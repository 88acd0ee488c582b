"""How a command takes settings, and how it ends: a person's mistake is one line, a bug is a traceback."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import NoReturn

from zsnmt.errors import InputError

FAILED = 1
INTERRUPTED = 130  # as a shell reports SIGINT
PIPE_CLOSED = 141  # as a shell reports SIGPIPE


def run(main: Callable[[], None]) -> NoReturn:
    """Calls `main` and exits: 0, or 1 with one line on stderr for an InputError or an OSError.

    An interrupt exits with 130 and a reader that closed its pipe (`| head`) with 141, both silently.
    Any other exception is a bug and propagates.
    """
    # fairseq would otherwise log what it loads, on import
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        _stop(INTERRUPTED)
    except BrokenPipeError:
        _stop(PIPE_CLOSED)
    except InputError as error:
        _stop(FAILED, str(error))
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        _stop(FAILED, where + (error.strerror or str(error)))
    sys.exit(0)


def add_fields(parser: argparse.ArgumentParser, settings: type, without: Collection[str] = ()) -> None:
    """Add an option for every field of a dataclass but some, with its default and the help in its metadata."""
    for setting in fields(settings):
        if setting.name not in without:
            parser.add_argument(
                f"--{setting.name.replace('_', '-')}",
                type=setting.type,
                default=setting.default,
                help=f"{setting.metadata['help']} (default {setting.default})",
            )


def _stop(status: int, message: str | None = None) -> NoReturn:
    """Exits after what was printed, which is dropped when it cannot be written.

    Otherwise the interpreter tries again when it ends and reports the failure a second time.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if message is not None:
        print("error:", message.replace("\n", " "), file=sys.stderr)
    sys.exit(status)
