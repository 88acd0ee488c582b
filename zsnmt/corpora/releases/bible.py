"""A Bible of the eBible corpus (Akerman et al. 2023): a line for each verse of a fixed list.

A line is empty where the Bible lacks the verse, and `<range>` where the verse is told with the one before.
"""

from pathlib import Path

from zsnmt.corpora.releases.release import clean_sentence
from zsnmt.errors import InputError
from zsnmt.text.lines import iterate_lines

RANGE = "<range>"
PARAGRAPH = "\N{PILCROW SIGN}"


def read_verses(path: Path) -> list[str]:
    """The verses that a Bible has, in their order, without marks of paragraphs.

    Raises `InputError` where `iterate_lines` does, and for a file without any verse.
    """
    lines = (
        clean_sentence(line.replace(PARAGRAPH, " ")) for line in iterate_lines(path, allow_empty_lines=True)
    )
    verses = [line for line in lines if line not in ("", RANGE)]
    if not verses:
        raise InputError(
            f"{path} has no verses; give a Bible as zsnmt fetch ebible brings it, one verse per line"
        )
    return verses
