"""Scripts without spaces between words."""

import functools
import unicodedata

# How the names of their characters begin: fontTools, by which texts are surveyed, need not be installed where
# documents are translated.
NAMES = "CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"


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
