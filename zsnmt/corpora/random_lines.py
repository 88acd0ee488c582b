"""Lines drawn at random from the files of language pairs, such as those of training."""

import random
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.text.lines import iterate_lines
from zsnmt.text.sampling import sample


def random_lines(
    text: Path, split: str, languages: Sequence[str], number: int | None, seed: int = 1
) -> dict[str, list[str]]:
    """Lines of each language from `split.xx-yy.{lang}` of all its pairs, each line at most once, in their
    order.

    As many for each language: `number`, or all that the language with the fewest has; with None every line,
    however many a language has. What languages are drawn together makes no difference to the lines of one,
    unless it has the fewest. Line n of two languages is not the same sentence. Files are read twice and not
    held. Raises `InputError` for a number below 1, for a language without such a file, and where
    `iterate_lines` does.
    """
    if number is not None and number < 1:
        raise InputError(f"{number} lines of each language are too few; give 1 or more")
    files = {language: sorted(text.glob(f"{split}.*-*.{language}")) for language in languages}
    if missing := [language for language, of_language in files.items() if not of_language]:
        raise InputError(
            f"{text} has no file {split}.xx-yy.{missing[0]} of any pair; give a folder or a split with text "
            f"of {', '.join(missing)}"
        )
    if number is None:
        return {language: [*lines_of(of_language)] for language, of_language in files.items()}
    counts = {language: sum(1 for _ in lines_of(of_language)) for language, of_language in files.items()}
    number = min(number, *counts.values())
    return {
        language: [
            *sample(
                lines_of(of_language), counts[language], number, generator=random.Random(f"{seed} {language}")
            )
        ]
        for language, of_language in files.items()
    }


def lines_of(files: Sequence[Path]) -> Iterator[str]:
    """The lines of the files, one file after another."""
    return chain.from_iterable(map(iterate_lines, files))
