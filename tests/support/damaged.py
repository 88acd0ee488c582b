"""JSON files as disks, editors and other programs leave them."""

import json
from collections.abc import Iterator

NO_OBJECTS = (b"", b"{", b"\0" * 40, b"\xff\xfe{\0}\0", b"[" * 20_000, b"[]", b"null", b"1", b'"x"', b"{}")
WRONG = (None, True, -1, 0.5, "x", [], {}, [[]], {"x": {}})
NEIGHBOURS = 2  # of a list or an object below the first one, so many are damaged


def damaged(content: dict) -> Iterator[bytes]:
    """What is not an object, half of the object, and the object with a value missing or of another kind."""
    whole = json.dumps(content).encode()
    yield from NO_OBJECTS
    yield whole[: len(whole) // 2]
    for changed in variants(content, len(content)):
        yield json.dumps(changed).encode()


def variants(value: object, most: int = NEIGHBOURS) -> Iterator[object]:
    """The value with one of its parts missing or another; of an inner one only some."""
    if not isinstance(value, (dict, list)):
        return
    for key in [*(value if isinstance(value, dict) else range(len(value)))][:most]:
        rest = {**value} if isinstance(value, dict) else [*value]
        del rest[key]
        yield rest
        for other in (*WRONG, *variants(value[key])):
            rest = {**value} if isinstance(value, dict) else [*value]
            rest[key] = other
            yield rest
