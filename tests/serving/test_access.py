"""Who may ask a server, how often, and how much."""

import math
import time

import pytest

from zsnmt.errors import InputError
from zsnmt.serving import access
from zsnmt.serving.access import Rate, check_key, read_keys
from zsnmt.serving.limits import Limits
from zsnmt.serving.refusals import Refused


def allowed(rate: Rate, address: str, times: int = 1) -> int:
    """How many of so many requests are allowed."""
    count = 0
    for _ in range(times):
        try:
            rate.check(address)
            count += 1
        except Refused as error:
            assert error.status == 429
    return count


def test_each_address_has_its_own_rate_which_comes_back():
    now = [1000.0]
    rate = Rate(3, clock=lambda: now[0])
    assert allowed(rate, "a", 5) == 3 and allowed(rate, "b", 2) == 2
    now[0] += 20
    assert allowed(rate, "a", 5) == 1 and allowed(rate, "b", 5) == 2
    now[0] += 600
    assert allowed(rate, "a", 5) == 3


def test_who_asks_too_often_is_told_when_to_ask_again():
    now = [1000.0]
    rate = Rate(2, clock=lambda: now[0])
    assert allowed(rate, "a", 2) == 2
    for later, wait in ((0, 15), (5, 10), (14.5, 1)):
        now[0] = 1000.0 + later
        with pytest.raises(Refused) as refused:
            rate.check("a")
        assert refused.value.retry == wait
    now[0] = 1000.0 + 15
    assert allowed(rate, "a") == 1


def test_no_rate_is_no_limit():
    assert allowed(Rate(0), "a", 500) == 500


def test_addresses_are_forgotten(monkeypatch):
    monkeypatch.setattr(access, "ADDRESSES", 10)
    now = [0.0]
    rate = Rate(1, clock=lambda: now[0])
    for number in range(100):
        assert allowed(rate, str(number)) == 1
        now[0] += 60
    assert len(rate.full) <= 10


def test_the_time_of_many_addresses_in_a_minute_does_not_explode():
    begin, rate = time.process_time(), Rate(1, clock=lambda: 0.0)
    for number in range(4 * access.ADDRESSES):
        rate.check(str(number))
    assert time.process_time() - begin < 5
    assert allowed(rate, "0") == 0


def test_a_key_is_needed_where_there_are_some():
    check_key(None, [])
    check_key("one", ["two", "one"])
    for given in (None, "", "on", "one ", "ö", "\ud800"):
        with pytest.raises(Refused) as refused:
            check_key(given, ["two", "one"])
        assert refused.value.status == 403


def test_keys_are_read_from_a_file(tmp_path):
    path = tmp_path / "keys"
    path.write_text("one\ntwo\n")
    assert read_keys(path) == ["one", "two"]
    for wrong in ("one\ntwo words\n", "öne\n", "one\n\n"):
        path.write_text(wrong)
        with pytest.raises(
            InputError, match="keys, line .* is not an API key; write .*, or remove the line$"
        ):
            read_keys(path)


@pytest.mark.parametrize(
    "name, value",
    [
        ("queue", 0),
        ("seconds", 0.0),
        ("seconds", math.nan),
        ("gather", -1.0),
        ("rate", -1),
        ("gather", 1e300),
    ],
)
def test_limits_leave_room_for_a_request(name, value):
    with pytest.raises(InputError, match=f"--{name} is"):
        Limits(**{name: value})
