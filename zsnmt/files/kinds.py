"""Whether what a JSON file says is what is to be read of it."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Union, get_args, get_origin, get_type_hints


def check_kinds(content: Mapping, kinds: Mapping[str, object]) -> None:
    """`ValueError` unless a mapping has every key of `kinds` with a value that fits; one that may be None
    may be left out.
    """
    if lacking := [key for key, kind in kinds.items() if key not in content and not fits(None, kind)]:
        raise ValueError(f"it lacks {', '.join(lacking)}")
    for key, kind in kinds.items():
        if not fits(value := content.get(key), kind):
            raise ValueError(f"{key} cannot be {json.dumps(value)[:20]}")


def fits(value: object, kind: object) -> bool:
    """Whether a value from JSON is of a kind; whole numbers are floats, too.

    Kinds are `str`, `int | None`, `Mapping[str, Sequence[float]]`, and what is written as JSON is: the kinds
    of an object's keys, `{"beam": int}` or a NamedTuple, or of all its values, `{str: kind}`; that of a
    list's items, `[kind]`; and one of several, `(kind, None)`.
    """
    if isinstance(kind, tuple):
        return any(fits(value, each) for each in kind)
    if isinstance(kind, list):
        return isinstance(value, list) and all(fits(each, kind[0]) for each in value)
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return False
        if str in kind:
            return all(fits(each, kind[str]) for each in value.values())
        return all(fits(value.get(key), of) for key, of in kind.items())
    if kind is int or kind is float:
        return isinstance(value, (int, kind)) and not isinstance(value, bool)
    if (known := as_in_json(kind)) is not kind:
        return fits(value, known)
    return isinstance(value, kind) if isinstance(kind, type) else value is kind


@cache
def as_in_json(kind: object) -> object:
    """A kind that is written with names of `typing`, as JSON is written; any other as it is."""
    if hasattr(kind, "_fields"):  # a NamedTuple
        return get_type_hints(kind)
    origin, of = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return of
    if origin is Mapping:
        return {str: of[1] if of else object}
    if origin is Sequence:
        return [of[0] if of else object]
    return origin
