"""Scripts without spaces between words."""

import functools
import unicodedata
from collections.abc import Iterable

# How the names of their characters begin: fontTools, by which texts are surveyed, need not be installed where
# documents are translated.
EAST_ASIAN = "CJK", "HIRAGANA", "KATAKANA"
NAMES = *EAST_ASIAN, "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"
CLOSING = "\"'”’»)"  # stand behind the end of a sentence


@functools.cache
def is_unspaced(character: str) -> bool:
    """Whether a character is of a script without spaces between words."""
    return unicodedata.name(character, "").startswith(NAMES)


def stick_together(before: str, after: str) -> bool:
    """Whether the last word of a text and the first of the next would be read as one, where nothing is
    between them.
    """
    ends = before[-1:] + after[:1]
    return len(ends) == 2 and ends.isalnum() and not all(map(is_unspaced, ends))


def closes_up(text: str) -> bool:
    """Whether a text ends as Chinese and Japanese ones do, which have no space before the next sentence."""
    last = text.rstrip().rstrip(CLOSING)[-1:]
    wide = unicodedata.east_asian_width(last) in "WF" if last else False
    return wide and (unicodedata.category(last)[0] == "P" or unicodedata.name(last).startswith(EAST_ASIAN))


def gap_behind(text: str) -> str:
    """What is between a text and the one that goes on: a space, unless its script has none."""
    return "" if closes_up(text) else " "


def join_texts(texts: Iterable[str]) -> str:
    """Texts that are not empty, one behind the other, with a space between where their script has one."""
    joined = ""
    for text in filter(None, texts):
        joined += gap_behind(joined) * (joined != "") + text
    return joined
