"""Translations paired with the English (pivot) sentences that they were made of, to be translated back.

A pair X–English has sentences of English that no other pair has. Their translations into another language Y
are training text from Y into English, whose target people wrote (back-translation, Sennrich et al. 2016). A
folder `de` has those of the English beside German: `train.fr-en.fr`, `train.fr-en.en`.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt.corpora.parallel_text import TRAIN
from zsnmt.distillation.synthetic_text import SyntheticText
from zsnmt.languages import Direction
from zsnmt.text.lines import write_lines


def write_back_translations(synthetic: SyntheticText, kept: Sequence[Direction], text: Path) -> None:
    """Write the kept translations of each direction, and the English of each."""
    for direction in kept:
        rows = synthetic.kept(direction)
        back = Direction(direction.target, synthetic.pivot)
        for language, lines in zip(back, ([row.synthetic for row in rows], [row.pivot for row in rows])):
            write_lines(text / direction.source / f"{TRAIN}.{back}.{language}", lines)
