"""The text that is scored: the lines of each direction, from a split of parallel text."""

import functools
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from zsnmt.corpora.parallel_text import check_folder, check_pair, find_pair, number_of_lines, pairs_of_split
from zsnmt.errors import InputError
from zsnmt.evaluation.hypotheses import Pair
from zsnmt.evaluation.settings import TextChoice
from zsnmt.files.checksums import sha256
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction, check_known, other_pairs, supervised_directions, zero_shot_directions
from zsnmt.text.lines import read_lines

logger = logging.getLogger(__name__)


class ScoredText(NamedTuple):
    """A folder of parallel text, with the files and the checked lines of each direction to score."""

    folder: Path
    files: Mapping[Direction, tuple[Path, Path]]
    pairs: Mapping[Direction, Pair]

    def checksums(self) -> dict[str, str]:
        """The checksums of the source files, by direction."""
        return {str(direction): sha256(source) for direction, (source, _) in self.files.items()}


def read_text(
    choice: TextChoice, folder: Path, translator: Translator, *, normalise: bool = False
) -> ScoredText:
    """The text of a folder in the directions to score, which are by default those that the translator is for.

    With `normalise` references are spelt as its tokenisation spells its output. `InputError` where there is
    no text, and for a language that it does not know.
    """
    directions = choice.directions or worth_scoring(
        directions_with_text(folder, choice.split, translator.languages), translator
    )
    check_all_known(directions, translator)
    files = {direction: find_pair(folder, choice.split, *direction) for direction in directions}
    respell = translator.pipeline.normalise if normalise else lambda reference, language: reference
    return ScoredText(folder, files, read_pairs(files, choice.lines, respell))


def check_all_known(directions: Iterable[Direction], translator: Translator) -> None:
    """`InputError` for a language that a translator does not know."""
    for language in dict.fromkeys(chain.from_iterable(directions)):
        check_known(language, translator.languages)


def directions_with_text(text: Path, split: str, languages: Sequence[str]) -> list[Direction]:
    """All directions that can be scored, those with the pivot (the first language) first.

    Says which pairs have no text in the split; `InputError` if none has.
    """
    check_folder(text)
    pairs = pairs_of_split(text, split, languages)
    if not pairs:
        raise InputError(
            f"{text} has no text in split '{split}' for any two of {', '.join(languages)}; name another "
            "--split, or another folder with --text"
        )
    if without := other_pairs(languages, pairs):
        logger.warning(
            "not scored, since split '%s' of %s has no text for them: %s; docs/own_text.md says how to add "
            "some",
            split,
            text,
            ", ".join(without),
        )
    directions = supervised_directions(languages, languages[0]) + zero_shot_directions(
        languages, languages[0]
    )
    return [direction for direction in directions if {direction, direction[::-1]} & {*pairs}]


def worth_scoring(directions: Sequence[Direction], translator: Translator) -> list[Direction]:
    """Those of training and those without the pivot: one that learned a single direction of a pair cannot
    do the other.
    """
    return [
        direction
        for direction in directions
        if direction in translator.trained or translator.pivot not in direction
    ]


def read_pairs(
    files: Mapping[Direction, tuple[Path, Path]], lines: int | None, respell: Callable[[str, str], str]
) -> dict[Direction, Pair]:
    """The first lines (or all) of each direction's checked files, the references as respelt; a file is read
    and spelt once.
    """
    number_of = functools.cache(number_of_lines)
    for pair in files.values():
        check_pair(*pair, number_of)
    read = functools.cache(lambda path: read_lines(path)[:lines])
    references = functools.cache(lambda path, language: [respell(line, language) for line in read(path)])
    return {
        direction: (read(source), references(target, direction.target))
        for direction, (source, target) in files.items()
    }


def word_orders(text: Path, languages: Sequence[str]) -> dict[str, str]:
    """The word order of each language, `{"velan": "SOV"}`; empty unless the text has `word_order.{lang}` of
    all.
    """
    files = {language: text / f"word_order.{language}" for language in languages}
    if not all(map(Path.is_file, files.values())):
        return {}
    return {language: " ".join(read_lines(file)) for language, file in files.items()}
