"""How a command takes settings, and how it ends: a person's mistake is one line, a bug is a traceback."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Collection
from concurrent.futures import BrokenExecutor
from dataclasses import fields
from typing import Any, NoReturn

from zsnmt.errors import InputError

FAILED, MISUSED = 1, 2
INTERRUPTED = 130  # as a shell reports SIGINT
PIPE_CLOSED = 141  # as a shell reports SIGPIPE


def run(main: Callable[[], object]) -> NoReturn:
    """Calls `main` and exits: 0, or 1 with one line on stderr for an InputError, an OSError or a worker that
    was killed, 2 for a WrongUse.

    An interrupt exits with 130 and a reader that closed its pipe (`| head`) with 141, both silently.
    Any other exception is a bug and propagates.
    """
    # fairseq would otherwise log what it loads, on import
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        stop(INTERRUPTED)
    except BrokenPipeError:
        stop(PIPE_CLOSED)
    except InputError as error:
        stop(MISUSED if isinstance(error, WrongUse) else FAILED, str(error))
    except BrokenExecutor:
        stop(FAILED, "a process that shared the work was ended, as the system does where memory is short")
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        stop(FAILED, where + (error.strerror or str(error)))
    sys.exit(0)


class WrongUse(InputError):
    """Words after a command that it does not know, or that it lacks."""


class Help(argparse.RawDescriptionHelpFormatter):
    """Help that keeps the lines of the description, and says the default of each option that has one."""

    def _get_help_string(self, action: argparse.Action) -> str:
        default, text = action.default, action.help or ""
        said = default is None or default is argparse.SUPPRESS or default is False or "(default" in text
        if said or not action.option_strings or default in ("", [], ()):
            return text
        shown = " ".join(map(str, default)) if isinstance(default, (list, tuple)) else str(default)
        return f"{text} (default: {shown.replace('%', '%%')})"


class Parser(argparse.ArgumentParser):
    """A parser of options, and of verbs with options, whose help is `Help`. What it cannot read is a
    `WrongUse`.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": Help} | settings)

    def error(self, message: str) -> NoReturn:
        raise WrongUse(f"{message}; see {self.prog} --help")


def add_fields(parser: argparse.ArgumentParser, settings: type, without: Collection[str] = ()) -> None:
    """Add an option for every field of a dataclass but some, with its default and the help in its
    metadata.
    """
    for setting in fields(settings):
        if setting.name not in without:
            parser.add_argument(
                f"--{setting.name.replace('_', '-')}",
                type=setting.type,
                default=setting.default,
                help=setting.metadata["help"],
            )


def stop(status: int, message: str | None = None) -> NoReturn:
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
