"""Raw text into what a model reads, and what it writes into raw text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from zsnmt.data.language_tags import TagPlacement, source_tags
from zsnmt.decoding.search import Sentence
from zsnmt.errors import InputError
from zsnmt.languages import Direction, check_known, language_tag
from zsnmt.text.dictionary import Dictionary
from zsnmt.text.pipeline import TextPipeline

if TYPE_CHECKING:  # an export is read without fairseq
    import fairseq.data


def load_dictionary(path: Path) -> "fairseq.data.Dictionary":
    """fairseq's dictionary of a file; `InputError` for one that is damaged."""
    from fairseq.data import Dictionary  # loads PyTorch

    try:
        return Dictionary.load(str(path))
    except FileNotFoundError:
        raise
    except Exception as error:  # fairseq raises many kinds
        raise InputError(
            f"{path} is not a dictionary ({' '.join(str(error).split())}); copy it from where the folder was "
            "made, or make the folder again"
        ) from error


def read_dictionary(folder: Path, languages: Sequence[str]) -> "fairseq.data.Dictionary":
    """The dictionary that all languages of a folder have in common; `InputError` where a file of it is
    missing, damaged or another, and where it lacks the tag of a language.
    """
    file = folder / f"dict.{languages[0]}.txt"
    if not file.is_file():
        raise InputError(
            f"{file} is missing: a folder has one dictionary for all languages; copy it from where the "
            "folder was made, or make the folder with zsnmt prepare"
        )
    if len({path.read_bytes() for path in folder.glob("dict.*.txt")}) != 1:
        raise InputError(f"{folder} must hold one dictionary for all languages; make it with zsnmt prepare")
    dictionary = load_dictionary(file)
    if missing := [language for language in languages if language_tag(language) not in dictionary]:
        raise InputError(
            f"{folder}: the dictionary has no tag for {', '.join(missing)}; run zsnmt prepare again"
        )
    return dictionary


def encode(pieces: Sequence[str], dictionary: Dictionary) -> list[int]:
    """Ids of pieces, and EOS."""
    return [*map(dictionary.index, pieces), dictionary.eos()]


@dataclass(frozen=True)
class Codec:
    """A model's text pipeline, dictionary and language tags: raw text into token ids, and back.

    `languages` are in their order, the pivot first; `trained` are the directions of training; `longest` is
    the number of tokens that the model reads of a source at most, tags and EOS among them. Raises
    `InputError` where no source fits into that.
    """

    pipeline: TextPipeline
    placement: TagPlacement
    languages: list[str]
    trained: list[Direction]
    longest: int

    def __post_init__(self) -> None:
        some = Direction(self.languages[0], self.languages[-1])
        if self.room(some) < 1:
            raise InputError(
                f"a model that reads {self.longest} tokens of a source has no place for its tags, a "
                "piece and the end of the sentence"
            )

    @property
    def dictionary(self) -> Dictionary:
        """The symbols by their ids."""
        return self.placement.dictionary

    @property
    def pivot(self) -> str:
        """The first language."""
        return self.languages[0]

    def direction(self, source: str | None, target: str) -> Direction:
        """A direction, checked; the source may be left out where the model does not see its language.
        `InputError` for languages that are unknown or the same, and for a source that is left out elsewhere.
        """
        check_known(target, self.languages)
        if source == target:
            raise InputError(f"source and target are both '{target}'; give two different languages")
        if source is not None:
            return Direction(check_known(source, self.languages), target)
        anything = Direction(next(language for language in self.languages if language != target), target)
        if self.pipeline.needs_language or anything.source in source_tags(self.placement.name, anything):
            raise InputError(
                f"this model must be told the source language: one of {', '.join(self.languages)}"
            )
        return anything

    # Text into ids

    def source(self, line: str, direction: Direction) -> Sentence:
        """A raw line as the model reads it."""
        return next(self.sources([line], direction))

    def sources(self, lines: Iterable[str], direction: Direction) -> Iterator[Sentence]:
        """Raw lines as the model reads them, in order."""
        for pieces in self.pipeline.encode_lines(lines, direction.source):
            yield self.sentence(encode(pieces, self.dictionary), direction)

    def tokens(self, line: str, language: str) -> list[int]:
        """Ids of a raw line's pieces, and EOS, without tags: what the model writes."""
        return encode(self.pipeline.encode(line, language), self.dictionary)

    def sentence(self, tokens: Sequence[int], direction: Direction) -> Sentence:
        """Tokens of the source language, EOS last, with the tags of a direction."""
        return Sentence(
            [*self.placement.source_prefix(direction), *tokens], self.placement.decoder_start(direction)
        )

    def samples(self) -> list[Sentence]:
        """Two sentences of different lengths, of the first words of the dictionary."""
        direction, first = Direction(self.languages[0], self.languages[-1]), self.dictionary.nspecial
        words = range(first, len(self.dictionary.symbols))[: self.room(direction)]
        ends = self.dictionary.eos()
        return [self.sentence([*words[:length], ends], direction) for length in (2, 5)]

    def target(self, sentence: Sentence) -> str:
        """The language that the tags of a sentence ask for."""
        return self.placement.target_of(sentence.source, sentence.start, self.languages)

    def room(self, direction: Direction) -> int:
        """How many pieces a source may have, beside its tags and EOS."""
        return self.longest - len(self.placement.source_prefix(direction)) - 1

    def parts(self, line: str, language: str, room: int) -> list[list[int]]:
        """Tokens of a raw line in parts of at most `room` pieces and EOS, cut between words; none of an
        empty line.
        """
        pieces, parts = self.pieces(line, language), []
        while pieces:
            cut = room
            if len(pieces) > room:  # before the last word that begins in reach
                cut = max(
                    (i for i in range(1, room + 1) if self.pipeline.starts_word(pieces[i])), default=room
                )
            parts.append(encode(pieces[:cut], self.dictionary))
            pieces = pieces[cut:]
        return parts

    def pieces(self, line: str, language: str) -> list[str]:
        """The pieces of a raw line, in another of Unicode's equal spellings where the dictionary lacks fewer
        of them: an accent may stand within its letter or, as macOS and PDFs have it, behind it.
        """
        pieces = self.pipeline.encode(line, language)
        if not self.lacking(pieces):
            return pieces
        spellings = [normalize(form, line) for form in ("NFC", "NFD")]
        others = [self.pipeline.encode(each, language) for each in spellings]
        return min((pieces, *others), key=lambda each: len(self.lacking(each)))

    def lacking(self, pieces: Iterable[str]) -> list[str]:
        """Those of some pieces that the dictionary lacks."""
        index, unknown = self.dictionary.index, self.dictionary.unk()
        return [piece for piece in pieces if index(piece) == unknown]

    def unknown(self, line: str, language: str) -> list[str]:
        """The pieces of a raw line that the dictionary lacks: characters that training text never had."""
        lacking = self.lacking(self.pieces(line, language))
        return [*dict.fromkeys(map(self.pipeline.remove_mark, lacking))]

    # Ids into text

    def text(self, tokens: Iterable[int], language: str) -> str:
        """Tokens of a language as raw text; padding, EOS and unknown words are left out."""
        first = self.dictionary.nspecial
        return self.pipeline.decode([self.dictionary[token] for token in tokens if token >= first], language)
