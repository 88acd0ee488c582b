"""JSON files: what they say, or one sentence on what is wrong with them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType

from zsnmt.errors import InputError
from zsnmt.files.kinds import check_kinds
from zsnmt.files.replacing import replacing

# Beside training text, and in a run's record: its overlap with held-out sentences.
OVERLAP_FILE = "overlap.json"
CLEANING_FILE = "cleaning.json"  # likewise: what the rules of cleaning left out
LONGEST = 400  # characters of a value in one line
dumps = partial(json.dumps, ensure_ascii=False)


def read_json(path: Path, remedy: str, kinds: Mapping[str, object] = MappingProxyType({})) -> dict:
    """What a JSON file says, an object with at least the keys of `kinds`; an `InputError` with the remedy if
    it is missing or damaged.

    `kinds`: what the value of each of these keys is, see `zsnmt.files.kinds.fits`.
    """
    content = read_any_json(path, remedy)
    with damage_of(path, remedy):
        if not isinstance(content, dict):
            raise ValueError(f"it is not an object but {json.dumps(content)[:20]}")
        check_kinds(content, kinds)
    return content


def read_any_json(path: Path, remedy: str) -> object:
    """What a JSON file says, whatever it is; an `InputError` with the remedy if it is missing or no JSON."""
    check_file(path)
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} is missing; {remedy}") from None
    with damage_of(path, remedy):
        return json.loads(text.decode("utf-8"))


def check_file(path: Path) -> None:
    """`InputError` for what is there and is not a file, such as a pipe, from which nothing may ever come."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a file; put the file in its place that was there")


@contextmanager
def damage_of(path: Path | str, remedy: str) -> Iterator[None]:
    """Turns what goes wrong when the content of a file is taken apart into an `InputError` with a remedy."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise InputError(f"{path} is damaged ({what}); remove it, then {remedy}") from error


def write_json(path: Path, content: Mapping) -> None:
    """Write a file that is whole or not there."""
    with replacing(path) as file:
        # A name of a file that is not UTF-8 is kept by its escapes.
        file.write(json_text(content).encode("utf-8", "backslashreplace"))


def json_text(content: Mapping) -> str:
    """The text of a JSON file: one line for each key, and for each item of a value that is longer than
    `LONGEST`, such as a direction's result.
    """
    rows = [f"{dumps(str(key))}: {value_text(value)}" for key, value in content.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def value_text(value: object) -> str:
    """A value in one line, or between brackets on lines of their own where it is long."""
    text = dumps(value)
    if len(text) <= LONGEST or not isinstance(value, (Mapping, list, tuple)):
        return text
    items = (
        [dumps({key: item})[1:-1] for key, item in value.items()]
        if isinstance(value, Mapping)
        else [*map(dumps, value)]
    )
    return "\n".join([text[0], " " + ",\n ".join(items), text[-1]])


def lay_out(path: Path, remedy: str) -> None:
    """Write a JSON file anew where `write_json` would write what it says in other lines; `InputError` for a
    damaged one.
    """
    if path.read_text(encoding="utf-8") != json_text(content := read_json(path, remedy)):
        write_json(path, content)
