"""How a config is written: it is read, never run.

A config has a setting on each line, `KEY=value` or `KEY="a value with spaces"`, which may go on over several
lines; a `#` starts a comment. In a value, `$NAME` and `${NAME}` stand for an earlier key of the config, a
built-in name (ROOT, the folder of the checkout) or a variable of the environment; `${NAME:-text}` stands for
the text where that is not set or empty. Nothing else has a meaning of its own.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from zsnmt.errors import InputError
from zsnmt.languages import check_language

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
Name = TypeVar("Name", str, int)

BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
KEY = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)=")
QUOTED = re.compile(r'"([^"]*)"')
BARE = re.compile(r"[^\s\"';&|<>()`]*")
END = re.compile(r"[ \t]*(?:[ \t]#[^\n]*)?(?:\n|\Z)")
VARIABLE = re.compile(
    r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)(?::-(?P<default>[^{}$`\"\\]*))?\})?"
)


class Setting(NamedTuple):
    """The value of a key, and the line of the file on which the key stands."""

    value: str
    line: int


class ConfigFile:
    """The settings of a file by key, in the order of the file; `path` names it in errors."""

    def __init__(self, path: Path, keys: tuple[str, ...], variables: Mapping[str, str]) -> None:
        """Read `path`, which may set `keys` and no others.

        `variables`: what names in values stand for, besides earlier keys. Raises `InputError` for a file that
        is missing or breaks a rule, with its line.
        """
        self.path, self.keys, self.variables = path, keys, variables
        self.settings: dict[str, Setting] = {}
        text, position = self._text(), 0
        while (blank := BLANK.match(text, position)) and (position := blank.end()) < len(text):
            position = self._read_setting(text, position)

    def value(self, key: str) -> str:
        """The value of a key, empty where the file does not set it."""
        return self.settings[key].value if key in self.settings else ""

    def refuse(self, key: str, sentence: str) -> NoReturn:
        """Raise an `InputError` that names the file, and the line of the key where it is set."""
        raise InputError(f"{self._place(key)} {sentence}")

    def read_into(self, kind: type[T]) -> T:
        """The settings as an object of a dataclass whose fields are made by `setting`; an empty value counts
        as none.

        Raises `InputError` for a value that its field does not take, and for a key without default that is
        not set.
        """
        values = {}
        for each in fields(kind):
            key = each.name.upper()
            if not (value := self.value(key)):
                if each.default is MISSING:
                    self.refuse(key, f"does not set {key}, {each.metadata['help']}")
                continue
            try:
                values[each.name] = each.metadata["read"](value)
            except InputError as error:
                self.refuse(key, f"sets {key}={value}: {error}")
            except ValueError:
                self.refuse(key, f"sets {key}={value}; {each.metadata['rule']}")
        try:
            return kind(**values)
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from error

    def _text(self) -> str:
        try:
            content = self.path.read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            raise InputError(
                f"there is no config '{self.path}'; the ones that come with zsnmt are in "
                f"{Path(self.variables.get('ROOT', '.')) / 'configs'}"
            ) from None
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            self._fail(content.count(b"\n", 0, error.start) + 1, "is not UTF-8; convert the file to UTF-8")
        if text.startswith("\ufeff"):
            self._fail(1, "begins with a byte order mark; save the file without one, as UTF-8")
        if "\r" in text:
            self._fail(
                text.count("\n", 0, text.index("\r")) + 1,
                "has Windows line ends; convert the file with dos2unix",
            )
        return text

    def _read_setting(self, text: str, start: int) -> int:
        """Read the setting that begins at a place in the text; returns where the next line begins."""
        line = text.count("\n", 0, start) + 1
        rest = text[start:].partition("\n")[0]
        if not (match := KEY.match(text, start)):
            self._fail(
                line,
                f"is '{rest}'; a config holds nothing but KEY=value, values with spaces in double quotes, "
                "and comments",
            )
        key = match[1]
        if key not in self.keys:
            self._fail(line, f"sets '{key}', which is not a key; the keys are {', '.join(self.keys)}")
        if key in self.settings:
            self._fail(
                line, f"sets {key}, which line {self.settings[key].line} sets too; leave one of the two out"
            )
        quoted = text.startswith('"', match.end())
        if not (value := (QUOTED if quoted else BARE).match(text, match.end())):
            self._fail(line, f"opens a double quote for {key} that nothing closes; end the value with one")
        written = value[1] if quoted else value[0]
        if not quoted and written.startswith("~"):
            self._fail(line, f"sets {key}={written}; write $HOME in place of ~")
        shown = text[value.start() : value.end() + 1]  # with the sign that ended a bare word
        if "`" in shown or "$(" in shown:
            self._fail(
                line,
                f"asks {key} to run a command; a config is read and never run, so write the value itself",
            )
        if not (end := END.match(text, value.end())):
            self._fail(
                line,
                f"goes on after the value of {key}: '{rest}'; put a value with spaces or signs into double "
                "quotes, and each key on a line of its own",
            )
        self.settings[key] = Setting(self._expanded(written, key, line), line)
        return end.end()

    def _expanded(self, written: str, key: str, line: int) -> str:
        """A value with what its variables stand for."""
        if "\\" in written:
            self._fail(line, f"has a backslash in {key}, which has no meaning in a config; leave it out")

        def replacement(match: re.Match) -> str:
            name, default = match["plain"] or match["braced"], match["default"]
            if name is None:
                self._fail(
                    line,
                    f"has a $ in {key} that names no variable; write $NAME, ${{NAME}} or ${{NAME:-text}}",
                )
            known = self.value(name) if name in self.settings else self.variables.get(name)
            if not known and default is not None:
                return default
            if known is None:
                self._fail(
                    line,
                    f"takes {key} from {name}, which is not set; set it in the environment, or write "
                    f"${{{name}:-text}}",
                )
            return known

        return VARIABLE.sub(replacement, written)

    def _place(self, key: str) -> str:
        return f"{self.path}, line {self.settings[key].line}," if key in self.settings else str(self.path)

    def _fail(self, line: int, sentence: str) -> NoReturn:
        raise InputError(f"{self.path}, line {line}, {sentence}")


def setting(read: tuple[Callable[[str], object], str], what: str, default: object = MISSING) -> Any:
    """A field of a dataclass of settings: how its value is read and the rule for it, what it says, and its
    default.
    """
    return field(default=default, metadata={"read": read[0], "rule": read[1], "help": what})


def keys_of(kind: type) -> tuple[str, ...]:
    """The keys that a config may set for a dataclass of settings."""
    return tuple(each.name.upper() for each in fields(kind))


def pattern_reader(pattern: str, read: Callable[[str], object]) -> Callable[[str], object]:
    """A reader that raises ValueError for what a pattern does not match whole."""

    def reader(value: str) -> object:
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError
        return read(value)

    return reader


def split_words(value: str) -> tuple[str, ...]:
    if "'" in value:
        raise ValueError
    return tuple(value.split())


def split_options(value: str) -> tuple[str, ...]:
    words = split_words(value)
    if any(word.partition("=")[0] == "--user-dir" for word in words):
        raise InputError("--user-dir would run the code of a folder, and a config runs none; leave it out")
    return words


def split_languages(value: str) -> tuple[str, ...]:
    """Different language codes."""
    return all_different([*map(check_language, value.split())], "language")


def all_different(names: Sequence[Name], what: str) -> tuple[Name, ...]:
    """The names of what is named; `InputError` for one that is there twice."""
    if twice := [name for name, number in Counter(names).items() if number > 1]:
        raise InputError(f"'{twice[0]}' is there twice; name each {what} once")
    return tuple(names)


def choice(*words: str) -> tuple[Callable[[str], object], str]:
    """One of some words."""
    return pattern_reader(
        "|".join(map(re.escape, words)), str
    ), f"write {' or '.join(words)}, or leave it out"


TEXT = str, ""
WITHOUT_QUOTES = "words end at spaces, and a quote has no meaning in a value; write (0.9,0.98) without either"
WORDS = split_words, WITHOUT_QUOTES
FAIRSEQ_OPTIONS = split_options, WITHOUT_QUOTES
LANGUAGES = split_languages, ""
YES = pattern_reader("yes", bool), "write yes, or leave it out"
POSITIVE = pattern_reader("0*[1-9][0-9]*", int), "it must be a whole number above 0"
WHOLE = pattern_reader("[0-9]+", int), "it must be a whole number, 0 or above"
NUMBER = pattern_reader(r"[0-9]+(\.[0-9]+)?", float), "it must be a number, 0 or above, like 0.6"
SEEDS = (
    pattern_reader(
        r"\s*[0-9]+(\s+[0-9]+)*\s*", lambda value: all_different([*map(int, value.split())], "seed")
    ),
    "seeds are whole numbers with spaces between",
)
