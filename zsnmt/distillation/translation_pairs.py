"""Translations of one English (pivot) sentence into two languages, paired with each other.

The English beside German has translations into French and Czech, which are a pair French–Czech. So a
direction learns from the English of all pairs, and not only from that of its own two languages; but neither
side is authentic. UM4 (Yang et al. 2022) makes such pairs of English text without translations. A folder `de`
has those of the English beside German: `train.fr-cs.fr`, `train.fr-cs.cs`.
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from zsnmt.corpora.cleaning import are_unlike
from zsnmt.distillation.synthetic_text import TRAIN, SyntheticText
from zsnmt.languages import Direction
from zsnmt.text.lines import write_lines
from zsnmt.text.pipeline import TextPipeline


def write_translation_pairs(synthetic: SyntheticText, kept: Sequence[Direction], text: Path) -> None:
    """Write the pairs of any two languages without text by people, but for those of unlike lengths, which are
    counted in pieces with the end-of-sentence symbol.
    """
    pipeline = TextPipeline.load(synthetic.teacher.pipeline)
    for source in dict.fromkeys(direction.source for direction in kept):
        translated = {
            direction.target: {row.line: row.synthetic for row in synthetic.kept(direction)}
            for direction in kept
            if direction.source == source
        }
        lengths = {
            language: dict(zip(rows, lengths_of([*rows.values()], language, pipeline)))
            for language, rows in translated.items()
        }
        for pair in (Direction(*languages) for languages in combinations(translated, 2)):
            lines = [
                line
                for line in translated[pair.source]
                if line in translated[pair.target]
                and not are_unlike([lengths[language][line] for language in pair])
            ]
            for language in pair if pair in kept and lines else ():
                file = text / source / f"{TRAIN}.{pair}.{language}"
                write_lines(file, [translated[language][line] for line in lines])


def lengths_of(lines: Sequence[str], language: str, pipeline: TextPipeline) -> list[int]:
    """The number of pieces of each line, with the end-of-sentence symbol."""
    return [len(pieces) + 1 for pieces in pipeline.encode_lines(lines, language)]
