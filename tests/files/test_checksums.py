"""Checksums of settings and texts."""

import hashlib
import tracemalloc

from zsnmt.files.checksums import checksum_of
from zsnmt.languages import Direction


def test_a_checksum_is_that_of_the_whole_printed():
    text = {Direction("en", "de"): (["a", "b'\n"], ("c",)), Direction("de", "en"): (["ü"], ())}
    for content in ({}, {"beam": 4}, {"b": None, "a": 1.5, "c": [{"d": True}]}, text):
        printed = repr(sorted(content.items()))
        assert checksum_of(content) == hashlib.sha256(printed.encode("utf-8")).hexdigest()[:16]


def test_a_checksum_needs_no_more_memory_than_an_item():
    lines = [50 * "x" for _ in range(1000)]
    tracemalloc.start()
    checksum_of(dict.fromkeys(range(100), lines))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10 * 60 * len(lines)
