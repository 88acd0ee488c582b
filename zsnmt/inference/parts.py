"""What an engine translates at once of a text: lines, and parts of those that are too long."""

from typing import NamedTuple

from zsnmt.languages import Direction


class Part(NamedTuple):
    """A line, or a part of one too long, to translate in a direction: the line's index, and token ids with
    EOS; `whole` where the line is no longer.
    """

    line: int
    direction: Direction
    tokens: list[int]
    whole: bool = True
