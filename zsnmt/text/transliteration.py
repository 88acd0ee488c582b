"""Text of Indic scripts in the letters of Devanagari, and back, letter for letter by IndicNLP.

The blocks of these scripts in Unicode have letters of one sound in one place, so nearly every letter has a
counterpart. One that has none stays as it is: on the way there signs in the last rows of the own script, such
as the Malayalam chillus and the Gurmukhi tippi, and on the way back Devanagari that the other script lacks.
So all text comes back, but for what was Devanagari in a sentence of another script: that comes back in the
letters of the sentence's own script.
"""

import unicodedata
from functools import cache

Letters = dict[int, str]  # for `str.translate`


@cache
def to_devanagari(language: str) -> Letters:
    """Devanagari for each letter of a language's script that has a counterpart there; for none of Hindi and
    Marathi.
    """
    from indicnlp.langinfo import SCRIPT_RANGES
    from indicnlp.transliterate.unicode_transliterate import UnicodeIndicTransliterator  # loads pandas

    first, last = SCRIPT_RANGES[language]
    letters = [letter for letter in map(chr, range(first, last + 1)) if unicodedata.category(letter) != "Cn"]
    counterparts = (UnicodeIndicTransliterator.transliterate(letter, language, "hi") for letter in letters)
    return {ord(letter): other for letter, other in zip(letters, counterparts) if other != letter}


def from_devanagari(language: str) -> Letters:
    """The letters of a language's script for those that `to_devanagari` gives."""
    return {ord(other): chr(letter) for letter, other in to_devanagari(language).items()}
