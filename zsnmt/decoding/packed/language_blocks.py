"""Feed-forward blocks of the target languages, packed: each row meets those of its own language alone."""

from torch import Tensor

from zsnmt.decoding.packed.linear import pack
from zsnmt.modules.language_feed_forward import LanguageFeedForward

# By the tag of a language the rows that are translated into it, or None where all are.
RowsOfLanguages = dict[int, Tensor | None]


def rows_of_languages(tags: Tensor) -> RowsOfLanguages:
    """The rows of each language, by the tag that each row (N) begins with."""
    different = tags.unique().tolist()
    if len(different) == 1:
        return {different[0]: None}
    return {tag: (tags == tag).nonzero()[:, 0] for tag in different}


class PackedLanguageBlocks:
    """Trained blocks: the same values, up to rounding of the precision; their w is within the weights."""

    def __init__(self, blocks: LanguageFeedForward, precision: str) -> None:
        parts = zip(blocks.tags, blocks.widen, blocks.narrow, blocks.weights.detach())
        self.blocks = {
            tag: (
                pack(widen.weight, widen.bias, precision, relu=True),
                pack(weight * narrow.weight, weight * narrow.bias, precision),
            )
            for tag, widen, narrow, weight in parts
        }

    def add(self, made: Tensor, read: Tensor, rows: RowsOfLanguages) -> Tensor:
        """`made` (N×W×C), in place, with what the blocks make of `read` (as large) in rows whose language has
        one.
        """
        for tag, places in rows.items():
            if tag not in self.blocks:
                continue
            widen, narrow = self.blocks[tag]
            added = narrow(widen(read if places is None else read[places]))
            made = made.add_(added) if places is None else made.index_add_(0, places, added)
        return made
