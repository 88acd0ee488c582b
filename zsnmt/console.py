"""How a command takes settings, and how it ends: a person's mistake is one line, a bug is a traceback."""

import argparse
import errno
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import fields
from pathlib import Path
from traceback import walk_stack
from types import FrameType
from typing import Any, NoReturn

from zsnmt.errors import InputError, PassingError
from zsnmt.files.names import is_plain
from zsnmt.files.replacing import CANNOT_GROW, check_output, is_replaced

FAILED, MISUSED = 1, 2
PASSING = 75  # as sysexits.h has it for a failure that another attempt may not meet
INTERRUPTED = 130  # as a shell reports SIGINT
PIPE_CLOSED = 141  # as a shell reports SIGPIPE
EXPORTS = "zsnmt.inference.export"
ENDING = (signal.SIGTERM, signal.SIGHUP)  # end a process, as SIGINT does, which Python handles
STOPPING = (signal.SIGINT, *ENDING)
REFUSED = {  # what to do about a path that the system refuses, by the number of its error
    **dict.fromkeys(
        (errno.ENOENT, errno.ENOTDIR),
        "check the path; where something is to be written, name a folder that is there and takes files",
    ),
    errno.EEXIST: "a folder is to be there; name another place, or remove the file",
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS), "name another place, or have the rights to it changed"
    ),
}
last: list[Callable[[], object]] = []  # what a command does when all else is done
# What a terminal would obey, or show in another order than it stands: all but tab and newline.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def run(main: Callable[[], object], interrupted: str | None = None) -> NoReturn:
    """Calls `main` and exits: 0, or with one line on stderr 1 for an InputError or an OSError, 2 for a
    WrongUse, 75 for a PassingError or a worker that was killed.

    An interrupt exits with 130 and says `interrupted`, SIGTERM with 143 and a reader that closed its pipe
    (`| head`) with 141, both silently; all after what was half-written is removed. Any other exception is a
    bug and propagates.
    """
    open_closed_streams()
    handler = logging.StreamHandler()
    handler.setFormatter(Printable("%(levelname)s: %(message)s"))
    logging.getLogger(EXPORTS).setLevel(logging.INFO)  # which take their time
    # Else fairseq would log what it loads, on import.
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup has SIGHUP ignored
            signal.signal(number, end)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = raise_again
    try:
        main()
        sys.stdout.flush()
        for function in last:
            function()
    except KeyboardInterrupt:
        if interrupted:
            print(f"\n{interrupted}", file=sys.stderr)
        stop(INTERRUPTED)
    except BrokenPipeError:
        stop(PIPE_CLOSED)
    except InputError as error:
        stop(status_of(error), str(error))
    except BrokenExecutor:
        stop(PASSING, "a process that shared the work was ended, as the system does where memory is short")
    except OSError as error:
        of_output = (*CANNOT_GROW, errno.EBADF)  # the latter where it is closed; all other files are named
        name = "standard output" if error.errno in of_output else None
        where = next((f"{each}: " for each in (error.filename, name) if each is not None), "")
        remedy = f"; {REFUSED[error.errno]}" if where and error.errno in REFUSED else ""
        stop(FAILED, where + (error.strerror or str(error)) + remedy)
    except UnicodeEncodeError as error:
        if sys.stdout.encoding.lower() == "utf-8":  # which has all: the fault is elsewhere
            raise
        stop(
            FAILED,
            f"standard output: {error.encoding} has no {error.object[error.start]!a}; set "
            "PYTHONIOENCODING=utf-8, or choose a locale of UTF-8",
        )
    sys.exit(0)


def status_of(error: InputError) -> int:
    """With what a command exits that ends with an error."""
    if isinstance(error, WrongUse):
        return MISUSED
    return PASSING if isinstance(error, PassingError) else FAILED


def open_closed_streams() -> None:
    """Where a standard stream is closed (`<&-`), reading finds nothing and writing fails, as in other
    commands; and no file that is opened later takes its number.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def when_done(function: Callable[[], object]) -> None:
    """Have a function called when the command has ended well, and only then."""
    last.append(function)


def raise_again(ignored: "sys.UnraisableHookArgs") -> None:
    """Ends the process in spite of a callback of the interpreter, such as those of a fork, from which no
    exception comes out: an exit or an interrupt within one follows when it is over.
    """
    if isinstance(ignored.exc_value, SystemExit | KeyboardInterrupt):
        exit_soon(getattr(ignored.exc_value, "code", INTERRUPTED))
    else:
        sys.__unraisablehook__(ignored)


def end(number: int, frame: FrameType | None) -> None:
    """Ends the process at a signal, as an interrupt does; further ones do not disturb what it does at its
    end. A terminal that is closed sends two at once.
    """
    for each in ENDING:
        signal.signal(each, do_nothing)
    exit_from(frame, 128 + number)


def interrupt(number: int, frame: FrameType | None) -> None:
    """What Python does at an interrupt, KeyboardInterrupt, but later where fairseq is being loaded."""
    if loads_fairseq(frame):
        exit_soon(INTERRUPTED)
    else:
        raise KeyboardInterrupt


def do_nothing(number: int, frame: FrameType | None) -> None:
    """The answer to a signal that another one has come before, or that is another process's. Unlike one that
    is ignored, it is none in the programs that this process starts.
    """


def exit_from(frame: FrameType | None, status: int) -> None:
    """Exit with a status, but later where fairseq is being loaded."""
    if loads_fairseq(frame):
        exit_soon(status)
    else:
        sys.exit(status)


def exit_soon(status: int) -> None:
    """Exit with a status, a hundredth of a second from now or when fairseq is loaded."""
    signal.signal(signal.SIGALRM, lambda number, frame: exit_from(frame, status))
    signal.setitimer(signal.ITIMER_REAL, 0.01)


def loads_fairseq(frame: FrameType | None) -> bool:
    """Whether fairseq is being loaded, which takes any exception for a part that is not there."""
    modules = [
        each.f_globals.get("__name__") or ""
        for each, _ in walk_stack(frame)
        if each.f_code.co_name == "<module>"
    ]
    return any(name.partition(".")[0] == "fairseq" for name in modules)


def printable(text: str) -> str:
    """The text with control characters as Python spells them: what comes from a server or a file may stand in
    a message.
    """
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


class Printable(logging.Formatter):
    """Messages of a log without control characters; those of progress alone are not called by their level."""

    def format(self, record: logging.LogRecord) -> str:
        """The message, printable."""
        return printable(super().format(record).removeprefix("INFO: "))


class WrongUse(InputError):
    """Words after a command that it does not know, or that it lacks."""


class Help(argparse.RawDescriptionHelpFormatter):
    """Help that keeps the lines of the description, and says the default of each option that has one."""

    def _get_help_string(self, action: argparse.Action) -> str:
        default, text = action.default, action.help or ""
        said = default in (None, argparse.SUPPRESS) or default is False or "(default" in text
        turns_off = action.const is False  # what is on by default
        if said or turns_off or not action.option_strings or default in ("", [], ()):
            return text
        shown = " ".join(map(str, default)) if isinstance(default, (list, tuple)) else str(default)
        return f"{text} (default: {shown.replace('%', '%%')})"


class Parser(argparse.ArgumentParser):
    """A parser of options, and of verbs with options, whose help is `Help`. What it cannot read is a
    `WrongUse`; options have their whole names, by which records know them.
    """

    def __init__(self, **settings: Any) -> None:
        own: dict[str, Any] = {"formatter_class": Help, "allow_abbrev": False}
        super().__init__(**own | settings)
        self.register("action", None, Values)

    def error(self, message: str) -> NoReturn:
        """Raises `WrongUse`, which names the help."""
        raise WrongUse(f"{message}; see {self.prog} --help")


class Values(argparse.Action):
    """What follows an option. One that takes several values is given once: of two, the first would be dropped
    in silence.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the values; an error of the parser for a second option that is given once."""
        is_repeated = getattr(namespace, self.dest, self.default) is not self.default
        if option_string and is_repeated and self.is_given_once():
            parser.error(f"argument {option_string}: given twice; give it once, with all of its values")
        setattr(namespace, self.dest, self.checked(parser, values))

    def is_given_once(self) -> bool:
        """Whether a second one is an error, rather than another choice that replaces the first."""
        return self.nargs in ("+", "*")

    def checked(self, parser: argparse.ArgumentParser, values: Any) -> Any:
        """The values to keep; an error of the parser where they cannot be."""
        return values


class Once(Values):
    """An option of one value with settings, which is given once, too."""

    def is_given_once(self) -> bool:
        """It always is."""
        return True


class Several(Values):
    """Words of an option with spaces or commas between them, as a list."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs="+", **options)

    def checked(self, parser: argparse.ArgumentParser, values: Any) -> list[str]:
        """The words; an error of the parser where there is none."""
        words = [word for value in values for word in value.split(",") if word]
        if not words:
            parser.error(f"argument {'/'.join(self.option_strings)}: expected at least one argument")
        return words


class EachOnce(Values):
    """Values of an option, none of which may be there twice."""

    def checked(self, parser: argparse.ArgumentParser, values: Any) -> Any:
        """The values; an error of the parser for one that is there twice."""
        if twice := [value for value in values if values.count(value) > 1]:
            parser.error(f"argument {self.option_strings[0]}: {twice[0]} is there twice; name each once")
        return values


def output_file(word: str) -> Path:
    """An option's file to write, refused at once where it is a folder, or in a folder that is not there or
    cannot be written to: else that were found when all the work is done.
    """
    path = file_of_new_folder(word)
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{path.parent} is not there; make the folder first")
    if is_replaced(path) and not os.access(folder, os.W_OK):
        raise argparse.ArgumentTypeError(f"no file can be written in {path.parent}; {REFUSED[errno.EACCES]}")
    return path


def file_of_new_folder(word: str) -> Path:
    """An option's file to write into a folder that is made, refused at once where it is a folder itself."""
    try:
        check_output(path := Path(word))
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return path


def folder_name(word: str) -> str:
    """An option's name for a run, which becomes that of a folder."""
    if not is_plain(word):
        raise argparse.ArgumentTypeError(
            f"'{word}' cannot name a folder; take letters, digits, _ and -, without a leading dot"
        )
    return word


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
        print("error:", printable(message.replace("\n", " ")), file=sys.stderr)
    sys.exit(status)
