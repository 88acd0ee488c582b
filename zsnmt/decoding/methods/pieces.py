"""Which pieces a mask takes from a language: those that hardly occur in its training text."""

import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

from zsnmt.decoding.methods.settings import Mask
from zsnmt.errors import InputError
from zsnmt.text.dictionary import Dictionary
from zsnmt.text.piece_counts import PieceCounts

if TYPE_CHECKING:  # an export is read without fairseq
    import fairseq.data


def rare_pieces(
    mask: Mask, counts: PieceCounts, dictionary: "Dictionary | fairseq.data.Dictionary"
) -> dict[str, list[int]]:
    """The ids of the pieces that are rare in each language.

    Special symbols and pieces without a letter, such as numbers and punctuation, are rare in none. Raises
    InputError where all pieces with a letter are rare in a language.
    """
    bound = lettered(dictionary)
    rare = {}
    for language, of_language in counts.items():
        rare[language] = [number for number, symbol in bound if of_language.get(symbol, 0) < mask.pieces]
        if len(rare[language]) == len(bound):
            raise InputError(
                f"a mask of pieces that occur {mask.pieces} times leaves none with a letter to {language}; "
                "give a smaller number of pieces="
            )
    return rare


def lettered(dictionary: "Dictionary | fairseq.data.Dictionary") -> list[tuple[int, str]]:
    """The ids of the pieces with a letter, and the pieces: all but special symbols, numbers and the like."""
    return [
        (number, symbol)
        for number, symbol in enumerate(dictionary.symbols)
        if number >= dictionary.nspecial and has_letter(symbol)
    ]


def has_letter(piece: str) -> bool:
    """Whether a piece has a letter, or a mark that is written on one."""
    return any(unicodedata.category(character)[0] in "LM" for character in piece)


def check_counts(counts: PieceCounts, languages: Iterable[str]) -> None:
    """`InputError` where the pieces of a language are not counted."""
    if unknown := [language for language in languages if language not in counts]:
        raise InputError(
            f"a mask needs the counts of pieces in the training text, and there are none of "
            f"{', '.join(unknown)}; count them with zsnmt count-pieces RUN, or translate without"
        )
