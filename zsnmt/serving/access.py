"""Who may ask, and how often."""

import math
import time
from collections.abc import Callable, Collection
from hmac import compare_digest
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.serving.refusals import FORBIDDEN, TOO_MANY, Refused
from zsnmt.text.lines import read_lines

MINUTE = 60.0  # seconds
ADDRESSES = 10_000  # that are remembered at a time, about, where no more ask within a minute


def read_keys(path: Path) -> list[str]:
    """The API keys in a file, one per line; `InputError` for a file without any, and for one with spaces."""
    keys = read_lines(path, allow_empty_lines=True)
    for number, key in enumerate(keys, start=1):
        if key.split() != [key] or not key.isascii():
            raise InputError(
                f"{path}, line {number}: '{key}' is not an API key; write ASCII characters without spaces, "
                "or remove the line"
            )
    return keys


def check_key(given: str | None, keys: Collection[str]) -> None:
    """`Refused` unless there are no keys, or the given one is among them."""
    if not keys:
        return
    if given is None:
        raise Refused(
            FORBIDDEN,
            "this server needs an API key; give yours as 'api_key', or as Authorization: Bearer KEY",
        )
    if not sum(
        compare_digest(given.encode(errors="replace"), key.encode()) for key in keys
    ):  # all are looked at
        raise Refused(FORBIDDEN, "this API key is not known here; ask who runs the server for one")


class Rate:
    """Lets each address ask `number` times in a minute: at once, then again as time goes by."""

    def __init__(self, number: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.number, self.clock = number, clock
        self.full: dict[str, float] = {}  # when an address may ask `number` times again
        self.most = ADDRESSES  # in there, before those that may are forgotten

    def check(self, address: str) -> None:
        """Counts a request; `Refused` for one too many."""
        if not self.number:
            return
        now, price = self.clock(), MINUTE / self.number
        if len(self.full) >= self.most:
            self.full = {each: when for each, when in self.full.items() if when > now}
            # So that many are not gone through at each request.
            self.most = max(ADDRESSES, 2 * len(self.full))
        full = max(self.full.get(address, now), now) + price
        if (wait := full - now - MINUTE - price / 2) > 0:
            raise Refused(
                TOO_MANY,
                f"more than {self.number} requests in a minute; ask more slowly",
                retry=math.ceil(wait),
            )
        self.full[address] = full
