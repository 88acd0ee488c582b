"""Translations of one English (pivot) sentence into two languages, paired with each other.

The English beside German has translations into French and Czech, which are a pair French–Czech. So a
direction learns from the English of all pairs, and not only from that of its own two languages; but neither
side is authentic. UM4 (Yang et al. 2022) makes such pairs of English text without translations. A folder `de`
has those of the English beside German: `train.fr-cs.fr`, `train.fr-cs.cs`.
"""

from collections.abc import Collection, Sequence
from itertools import combinations
from pathlib import Path

from zsnmt.corpora.cleaning import are_unlike
from zsnmt.corpora.overlap import normalise
from zsnmt.corpora.parallel_text import TRAIN
from zsnmt.distillation.filters import lengths_of
from zsnmt.distillation.synthetic_text import SyntheticText
from zsnmt.languages import Direction
from zsnmt.text.lines import write_lines
from zsnmt.text.pipeline import TextPipeline


def write_translation_pairs(synthetic: SyntheticText, kept: Sequence[Direction], text: Path) -> None:
    """Write the pairs of any two languages without text by people.

    Those of unlike lengths in pieces are left out, and those of a sentence of the pivot that is held out of
    one of the two languages, whose translations validate their directions.
    """
    pipeline = TextPipeline.load(synthetic.teacher.pipeline)
    held_out = {language: held_out_of(synthetic, language) for _, language in kept}
    for source, pairs in pairs_of_targets(kept, without_text=synthetic.directions()).items():
        rows = {
            direction.target: {row.line: row for row in synthetic.kept(direction)}
            for direction in kept
            if direction.source == source
        }
        lengths = {
            language: dict(
                zip(
                    of_language,
                    lengths_of([row.synthetic for row in of_language.values()], language, pipeline),
                )
            )
            for language, of_language in rows.items()
        }
        for pair in pairs:
            unseen = {*held_out[pair.source], *held_out[pair.target]}
            lines = [
                line
                for line, row in rows[pair.source].items()
                if line in rows[pair.target]
                and normalise(row.pivot) not in unseen
                and not are_unlike([lengths[language][line] for language in pair])
            ]
            for language in pair if lines else ():
                file = text / source / f"{TRAIN}.{pair}.{language}"
                write_lines(file, [rows[language][line].synthetic for line in lines])


def pairs_of_targets(
    directions: Sequence[Direction], without_text: Collection[Direction]
) -> dict[str, list[Direction]]:
    """By the source of some directions, the pairs of their targets that are among those without text."""
    targets: dict[str, list[str]] = {}
    for source, target in directions:
        targets.setdefault(source, []).append(target)
    return {
        source: [pair for pair in map(Direction._make, combinations(found, 2)) if pair in without_text]
        for source, found in targets.items()
    }


def held_out_of(synthetic: SyntheticText, language: str) -> set[str]:
    """The pivot's sentences of the lines that are held out of a language, as overlap compares them."""
    pivot, _ = synthetic.lines(language)
    return {normalise(pivot[place]) for place in synthetic.selection(language).held_out}
