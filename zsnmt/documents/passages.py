"""Passages of a document: text that is read as a whole, with the looks of its parts."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, Protocol

from sentencex import get_sentence_boundaries

from zsnmt.text.iso_639 import two_letters
from zsnmt.text.unspaced import is_unspaced

# What is the same in all languages: addresses of the web and of mail, and codes, as of an article (A4711-B).
VERBATIM = re.compile(
    r"(\b(?:https?://|www\.)[^\s<>\"]*[\w/]|\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w-])(?=[\w/-]{0,40}\d)(?=[\w/-]{0,40}[A-Z])[A-Z0-9][A-Z0-9_/-]{1,40}(?![\w-]))"
)


class Run(NamedTuple):
    """A part of a passage that looks alike, such as a bold word. A `fixed` one is not to be translated: code,
    or the place where a program puts a value.
    """

    text: str
    fixed: bool = False


@dataclass(frozen=True)
class Passage:
    """What is translated as a whole: a paragraph, a heading, a subtitle; its text is that of its runs."""

    runs: tuple[Run, ...]

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


class Document(Protocol):
    """A document of some format, without what is not text.

    `passages`: what is to be translated, in order. `translated_into`: the language of translations that it
    has already, as it says it; None without any.
    """

    passages: Sequence[Passage]
    translated_into: str | None = None

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        """The document in another language: for each passage the new texts of its runs."""


def is_of_language(said: str | None, language: str) -> bool:
    """Whether what a document says is a language of the model, or that with a country or script: `de-CH` is
    `de`.
    """
    there, wanted = language_tag(said or "").lower(), language_tag(language).lower()
    return there == wanted or there.split("-")[0] == wanted


def language_tag(language: str) -> str:
    """A language of a model as documents write it: pt-BR for pt_BR."""
    return language.replace("_", "-")


class Part(NamedTuple):
    """The text of one run within a sentence, or a piece of it; `run` is its place in the passage."""

    run: int
    text: str
    fixed: bool = False


class Sentence(NamedTuple):
    """A sentence of a passage: the space before and after it, and what it is made of."""

    before: tuple[Part, ...]
    parts: tuple[Part, ...]
    after: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)

    @property
    def has_words(self) -> bool:
        """Whether there is a letter to translate."""
        return any(character.isalpha() for part in self.parts if not part.fixed for character in part.text)


def sentences_of(passage: Passage, language: str) -> list[Sentence]:
    """The sentences of a passage in a language; a passage of space alone is one without parts."""
    text, ends = passage.text, [*accumulate(len(run.text) for run in passage.runs)]

    def parts(begin: int, end: int) -> Iterator[Part]:
        while begin < end:
            place = bisect_right(ends, begin)
            stop = min(ends[place], end)
            for number, piece in enumerate(VERBATIM.split(text[begin:stop])):
                if piece:
                    yield Part(place, piece, passage.runs[place].fixed or number % 2 == 1)
            begin = stop

    sentences = []
    for first, last in sentence_bounds(text, language):
        stretch = text[first:last]
        begin = first + len(stretch) - len(stretch.lstrip())
        end = max(begin, first + len(stretch.rstrip()))
        bounds = pairwise((first, begin, end, last))
        sentences.append(Sentence(*(tuple(parts(*each)) for each in bounds)))
    return sentences


def sentence_bounds(text: str, language: str) -> list[tuple[int, int]]:
    """Where sentences begin and end in a text, without gaps between them."""
    # sentencex fails at "A ." with any other space than a common one. Space is looked at from its beginning
    # alone, since a long one would else be gone through from each of its characters.
    read = re.sub(r"(?<![^\S\n])[^\S\n]+(?=\.)", lambda spaces: " " * len(spaces[0]), text)
    sentences = get_sentence_boundaries(two_letters(language), read) if text else []
    begins = {sentence["start_index"] for sentence in sentences[1:]}
    return [*pairwise(sorted({0, *begins, len(text)}))]


def share_out(translation: str, sentence: Sentence, alone: Sequence[str]) -> list[str] | None:
    """Cut the translation of a sentence into the texts of its parts, in their order.

    `alone`: the translation of each part by itself, which is looked for, and a fixed part's own text. The
    ends of parts that are not found lie in proportion to the lengths of their sources, between words. None
    where a fixed part is not in the translation.
    """
    lengths = [len(part.text) for part in sentence.parts]
    shares = [length / sum(lengths) for length in accumulate([0, *lengths])]
    found = bounds_found(translation, sentence.parts, alone, shares=shares)
    if found is None:
        return None
    bounds = between_bounds(translation, found, shares)
    move_space(translation, sentence.parts, bounds)
    return [translation[start:end] for start, end in pairwise(bounds)]


def bounds_found(
    translation: str, parts: Sequence[Part], alone: Sequence[str], *, shares: Sequence[float]
) -> dict[int, int] | None:
    """Where some of the parts begin, by their number; None where a fixed part is not found. The last bound is
    the end of the translation.
    """
    count = len(parts)
    bounds, reached = {0: 0, count: len(translation)}, 0
    for place, (part, wanted) in enumerate(zip(parts, alone, strict=True)):
        found = nearest(wanted, translation, reached, share=shares[place], exact=part.fixed)
        if found is not None:
            start, reached = found
            if place and not parts[place - 1].fixed:
                bounds[place] = start
            if place + 1 < count:
                bounds[place + 1] = reached
        if part.fixed and (found is None or (bounds[place], bounds[place + 1]) != found):
            return None
    if count > 1 and not any(part.fixed for part in parts[-2:]) and all(map(is_punctuation, parts[-1].text)):
        end = len(translation)
        while end > reached and is_punctuation(translation[end - 1]):
            end -= 1
        bounds[count - 1] = end  # the full stop alone
    return bounds


def between_bounds(translation: str, found: Mapping[int, int], shares: Sequence[float]) -> list[int]:
    """All bounds: those between two that were found lie by the shares (0–1) of the sources, between words."""
    bounds = [found.get(place, 0) for place in range(len(shares))]
    for left, right in pairwise(sorted(found)):
        for place in range(left + 1, right):
            share = (shares[place] - shares[left]) / (shares[right] - shares[left])
            wanted = round(bounds[left] + share * (bounds[right] - bounds[left]))
            bounds[place] = between_words(translation, wanted, low=bounds[place - 1], high=bounds[right])
    return bounds


def move_space(translation: str, parts: Sequence[Part], bounds: list[int]) -> None:
    """Move bounds so that space and punctuation stand on the side of them on which they stood."""
    for place, (before, part) in enumerate(pairwise(parts), start=1):
        first = part.text[0]
        if before.fixed or part.fixed:
            continue
        if before.text[-1].isspace() and not first.isspace():
            while bounds[place] < bounds[place + 1] and translation[bounds[place]].isspace():
                bounds[place] += 1
        elif not of_word(first):
            while bounds[place] > bounds[place - 1] and moves(translation[bounds[place] - 1], first):
                bounds[place] -= 1


def nearest(wanted: str, text: str, start: int, *, share: float, exact: bool) -> tuple[int, int] | None:
    """Where a text has some words from `start` on, nearest to a share (0–1) of its length; None where it has
    them not.
    """
    words = wanted if exact else wanted.strip().strip(".,;:!?…。।؟")
    if not (exact or words.strip()):
        return None
    wanted_place, best = share * len(text), None
    pattern = re.escape(words)
    if not exact:  # most of what does not stand alone is passed over here, which is faster
        pattern = rf"(?i)(?<!{goes_on(words[0])}){pattern}(?!{goes_on(words[-1])})"
    for match in re.compile(pattern).finditer(text, start):
        span = match.span()
        if not (exact or stands_alone(text, *span)):
            continue
        if best is None or abs(span[0] - wanted_place) < abs(best[0] - wanted_place):
            best = span
        if span[0] >= wanted_place:  # those that follow are farther
            break
    return best


def of_word(character: str) -> bool:
    """Whether a character is of a word: a letter, a digit, or a mark of one, such as a vowel sign."""
    return unicodedata.category(character)[0] in "LNM"


def is_punctuation(character: str) -> bool:
    """Whether a character is a mark of punctuation, and no sign such as of a currency."""
    return unicodedata.category(character).startswith("P")


def moves(character: str, first: str) -> bool:
    """Whether a character goes to the next part, whose source begins with a space or with punctuation."""
    return character.isspace() or not (first.isspace() or of_word(character))


def goes_on(character: str) -> str:
    """What may go on with the word or the number that a character is of, as a regular expression; nothing
    with a mark.
    """
    if character.isdecimal():
        return r"\d"
    return r"[^\W\d_]" if of_word(character) else "(?!)"


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no word goes on before or after a place of a text, and no number; that of a note stands right
    behind a word.
    """
    borders = (text[max(0, place - 1) : place + 1] for place in (start, end))
    return not any(
        len(border) == 2 and all(map(of_word, border)) and border[0].isdecimal() == border[1].isdecimal()
        for border in borders
    )


def between_words(text: str, place: int, *, low: int, high: int) -> int:
    """The beginning of a word of `text[low:high]` that is nearest to a place; where there is no space, the
    place itself in a script without spaces, and elsewhere the nearer end.
    """
    starts = [low + match.end() for match in re.finditer(r"\s+", text[low:high])]
    if not starts and any(map(is_unspaced, text[low:high])):
        return max(low, place)
    return min(starts or (low, high), key=lambda start: abs(start - place))
