"""What an engine translates at once of a text: lines, and parts of those that are too long, in batches."""

import logging
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zsnmt.languages import Direction

logger = logging.getLogger(__name__)


class Part(NamedTuple):
    """A line, or a part of one too long, to translate in a direction: the line's index, and token ids with
    EOS; `whole` where the line is no longer.
    """

    line: int
    direction: Direction
    tokens: list[int]
    whole: bool = True


def warn_of_parts(parts: Sequence[Sequence[int]], room: int, line: str) -> None:
    """Say of a line, named so, that it is translated in parts, if there are several."""
    if len(parts) > 1:
        logger.warning(
            "%s has %d pieces and the model reads at most %d: translated in parts",
            line,
            sum(len(tokens) - 1 for tokens in parts),
            room,
        )


def batches_of_parts(parts: Sequence[Part], *, tokens: int, most: int, apart: bool) -> Iterator[list[int]]:
    """Places of the parts in batches of like length, the longest first, with about so many source tokens and
    at `most` so many parts; those of one line stay together, unless target languages are kept `apart`.
    """
    written = [part.direction.target if apart else "" for part in parts]
    batch: list[int] = []
    for place in sorted(range(len(parts)), key=lambda place: (written[place], -len(parts[place].tokens))):
        full = batch and len(parts[batch[0]].tokens) * (len(batch) + 1) > tokens
        if full or len(batch) == most or batch and written[place] != written[batch[0]]:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
