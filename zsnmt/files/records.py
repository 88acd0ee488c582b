"""JSON files: what they say, or one sentence on what is wrong with them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from zsnmt.errors import InputError
from zsnmt.files.kinds import check_kinds
from zsnmt.files.replacing import replacing

OVERLAP_FILE = (
    "overlap.json"  # beside training text, and in a run's record: its overlap with held-out sentences
)


def read_json(path: Path, remedy: str, kinds: Mapping[str, object] = MappingProxyType({})) -> dict:
    """What a JSON file says, an object with at least the keys of `kinds`; an `InputError` with the remedy if
    it is missing or damaged.

    `kinds`: what the value of each of these keys is, see `zsnmt.files.kinds.fits`.
    """
    check_file(path)
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} is missing; {remedy}") from None
    with damage_of(path, remedy):
        content = json.loads(text.decode("utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"it is not an object but {json.dumps(content)[:20]}")
        check_kinds(content, kinds)
    return content


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


def write_json(path: Path, content: dict) -> None:
    """Write a file that is whole or not there."""
    with replacing(path) as file:
        file.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))
