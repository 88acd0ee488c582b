"""Which way a text is written: from left to right, or from right to left, as Arabic and Hebrew are.

A document says it beside its text. Where it says the wrong one, lines begin at the wrong end, and the marks
that end a sentence stand at its beginning.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from zsnmt.documents.passages import Passage

NAMES = {True: "rtl", False: "ltr"}  # of the directions on web pages, by whether they are from the right


def from_right(text: str) -> bool | None:
    """Whether most letters of a text are of a script that is written from right to left; None without any."""
    classes = Counter(map(unicodedata.bidirectional, text))
    left, right = classes["L"], classes["R"] + classes["AL"]
    return right > left if left or right else None


def turned(passages: Sequence[Passage], translations: Iterable[Sequence[str]]) -> bool | None:
    """Whether translations are written from right to left, where their passages are not, or the other way
    round; None where both are written alike, and where one of them has no letters.
    """
    before = from_right("".join(passage.text for passage in passages))
    after = from_right("".join(text for texts in translations for text in texts))
    return None if before is None or after == before else after
