"""From lines of text to the folder that a masked language model of a language and its fake copy is trained
on.

The folder holds `languages.txt`, the subword model, `dict.txt`, `{split}.{language}.{bin,idx}` in fairseq's
mmap format, and `counts.json`, the lines of each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fairseq.data import Dictionary

from zsnmt.data.binarised_folder import check_replaceable
from zsnmt.data.binarised_text import ids_of, write_ids
from zsnmt.data.masked_sentences import MASK
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import LANGUAGES_FILE
from zsnmt.masked_lm.fake_language import FakeLanguage
from zsnmt.masked_lm.runs import COUNTS_FILE
from zsnmt.text.lines import iterate_lines, write_lines
from zsnmt.text.subword import MODEL_FILE, Subwords, train_subwords

FIRST, FAKE = "en", "fake"
SPECIALS = 5  # <s>, <pad>, </s>, <unk>, <mask>


@dataclass(frozen=True)
class Vocabulary:
    """How many symbols a language has, special ones among them, and whether its copy shares those."""

    size: int = 2048
    shared_specials: bool = True

    @property
    def fake(self) -> FakeLanguage:
        """The copy of the vocabulary."""
        return FakeLanguage(self.size, SPECIALS if self.shared_specials else 0)


def prepare(
    folder: Path,
    text: Mapping[str, Path],
    fake_text: Mapping[str, Path],
    vocabulary: Vocabulary,
    most: int = 0,
) -> dict[str, int]:
    """Make `folder` of the text of each split (train, valid); returns the lines of each split and language.

    `fake_text`: what the fake language says in the original's symbols, the text itself or a reordered one,
    line by line; empty for one language alone. Lines of more than `most` pieces (0: of any number) are left
    out of both. The subword model is learned on the training text. Raises `InputError` for texts of different
    numbers of lines, a vocabulary that does not fit, and a folder that holds something else.
    """
    check_replaceable(folder)
    with replacing_folder(folder) as part:
        subwords = learn_subwords({FIRST: [text["train"]]}, part, vocabulary.size)
        dictionary = learn_dictionary(subwords, vocabulary, bilingual=bool(fake_text))
        dictionary.save(str(part / "dict.txt"))
        write_lines(part / LANGUAGES_FILE, [FIRST, FAKE] if fake_text else [FIRST])
        counts: dict[str, int] = {}
        for split, path in text.items():
            sides = {FIRST: path} | ({FAKE: fake_text[split]} if fake_text else {})
            counts |= binarise(
                part, split, sides, subwords=subwords, dictionary=dictionary, fake=vocabulary.fake, most=most
            )
        write_json(part / COUNTS_FILE, counts)
    return counts


def learn_subwords(
    text: Mapping[str, Sequence[Path]], folder: Path, size: int, coverage: float = 1.0
) -> Subwords:
    """The subword model, kept in a folder, of a vocabulary of `size` symbols, special ones among them;
    `coverage` is the share (0–1) of the characters that it has.
    """
    others = SPECIALS - 1  # SentencePiece counts its unknown symbol, too
    train_subwords(text, folder / MODEL_FILE, size, character_coverage=coverage, others=others)
    return Subwords.load(folder)


def learn_dictionary(subwords: Subwords, vocabulary: Vocabulary, bilingual: bool) -> Dictionary:
    """The symbols of a language in an order of their own, after the special ones, and the names of their
    copies.
    """
    dictionary = Dictionary()
    symbols = [*dictionary.symbols, MASK, *subwords.pieces]
    for name in (vocabulary.fake.names(symbols) if bilingual else symbols)[dictionary.nspecial :]:
        dictionary.add_symbol(name)
    return dictionary


def binarise(
    folder: Path,
    split: str,
    sides: Mapping[str, Path],
    subwords: Subwords,
    dictionary: Dictionary,
    fake: FakeLanguage,
    most: int,
) -> dict[str, int]:
    """Write a split of all languages; returns the lines of each. Raises `InputError` for languages that have
    not as many lines, and where none is short enough.
    """
    encoded = {language: [*lines(path, subwords, dictionary)] for language, path in sides.items()}
    numbers = {language: len(of_language) for language, of_language in encoded.items()}
    if len(set(numbers.values())) > 1:
        listed = " and ".join(f"{path} has {numbers[language]}" for language, path in sides.items())
        raise InputError(f"{listed} lines; line n of one must be line n of the other, reordered or unchanged")
    kept = [
        n
        for n in range(numbers[FIRST])
        if not most or all(len(of_language[n]) - 1 <= most for of_language in encoded.values())
    ]
    if not kept:
        raise InputError(f"{sides[FIRST]} has no line of {most} pieces or fewer; allow more")
    for language, of_language in encoded.items():
        rows = (fake.shift(of_language[n]) if language == FAKE else of_language[n] for n in kept)
        write_ids(folder / f"{split}.{language}", rows, len(dictionary))
    return {f"{split}.{language}": len(kept) for language in sides}


def lines(path: Path, subwords: Subwords, dictionary: Dictionary) -> Iterator[np.ndarray]:
    """The ids of each line's pieces, and EOS (T each)."""
    return (ids_of(pieces, dictionary) for pieces in subwords.encode_lines(iterate_lines(path), FIRST))
