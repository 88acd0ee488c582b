"""Cleaning: which sentence pairs of training text are not text to learn from, and the rule that each breaks.

`empty`, `copy`, `long`, `length` and `language` look at a pair alone; `duplicate` and `near_duplicate` are of
a pair that the text has before. Validation and test text is never cleaned. What is in common with the filters
of distillation (`zsnmt/distillation/filters.py`) is here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from zsnmt.corpora.parallel_text import find_pair
from zsnmt.errors import InputError
from zsnmt.text.sampling import sample_lines

if TYPE_CHECKING:
    from zsnmt.scoring.language_identification import ForeignTest


RULES = EMPTY, COPY, LONG, LENGTH, LANGUAGE, DUPLICATE, NEAR_DUPLICATE = (
    "empty",
    "copy",
    "long",
    "length",
    "language",
    "duplicate",
    "near_duplicate",
)  # in this order: a pair counts for the first that it breaks
RATIO = 2.5  # of the lengths of a pair, at most
LONGEST = 1000  # characters
APART = 1.5  # how many times as long the lines of a file may be in all as in a sample, beside the other's
SHORTEST = 10  # characters, added to both lengths: short sentences differ more
HALF = 0.5  # of the lines of a file at most may be in another language: else its code means another one
DIGITS = re.compile(r"\d+")
DIGEST = 8  # bytes of a sentence pair
PARTS = 16  # of the digests of a pair, one of which is sorted at a time


@dataclass(frozen=True)
class Cleaning:
    """The rules that are kept to; none for text that stays as it is.

    `longest`: characters of a side, at most. `ratio`: of the lengths of the two sides, at most, where a
    character of one counts for as many of the other as in the whole text.
    """

    rules: tuple[str, ...] = ()
    longest: int = LONGEST
    ratio: float = RATIO

    def __str__(self) -> str:
        """The rules as a config has them."""
        bounds = {LONG: (self.longest, LONGEST), LENGTH: (self.ratio, RATIO)}
        own = {
            rule: f"={np.format_float_positional(bound, trim='-')}"
            for rule, (bound, default) in bounds.items()
            if bound != default
        }
        return " ".join(rule + own.get(rule, "") for rule in self.rules)


ALL_RULES = Cleaning(RULES)


def parse_cleaning(setting: str) -> Cleaning:
    """Read rules such as `empty copy long=500 length=3 duplicate`."""
    rules: list[str] = []
    bounds: dict[str, float] = {LONG: LONGEST, LENGTH: RATIO}
    for word in setting.split():
        rule, bounded, bound = word.partition("=")
        if rule not in RULES or rule in rules:
            raise InputError(f"'{rule}' is not a rule, or is there twice; the rules are {', '.join(RULES)}")
        if bounded and (rule not in (LONG, LENGTH) or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", bound)):
            raise InputError(f"'{word}' gives no bound; write {LONG}=500 or {LENGTH}=3, and no other bounds")
        rules.append(rule)
        if bound:
            bounds[rule] = float(bound)
    longest, ratio = int(bounds[LONG]), bounds[LENGTH]
    if longest < 1:
        raise InputError(f"no sentence has at most {longest} characters; give {LONG}=1 or more")
    if ratio < 1:
        raise InputError(f"no lengths have a ratio of at most {ratio:g}; give 1 or more")
    return Cleaning(tuple(rule for rule in RULES if rule in rules), longest, ratio)


def are_unlike(lengths: Sequence[float], ratio: float = RATIO) -> bool:
    """Whether the longest is more than so many times as long as the shortest."""
    return max(lengths) > ratio * min(lengths)


class Cleaner:
    """Finds the rules that the lines of a training pair break, each by itself, and the digests by which
    repetitions are known, for the rules `of_repetitions`.
    """

    def __init__(
        self,
        cleaning: Cleaning,
        files: tuple[Path, Path],
        samples: Mapping[Path, Sequence[str]],
        foreign_tests: "Mapping[str, ForeignTest]",
    ) -> None:
        """`samples`: some lines of both files; `foreign_tests`: by language, see `foreign_tests`.

        Raises `InputError` where most lines of one of the files seem to be in another language.
        """
        self.cleaning, self.foreign_tests = cleaning, foreign_tests
        self.languages = [language_of(file) for file in files]
        self.characters = compared_lengths(files, samples, cleaning.longest)
        checks = {
            EMPTY: self._is_empty,
            COPY: self._is_copy,
            LONG: self._is_long,
            LENGTH: self._is_unlike,
            LANGUAGE: self._is_foreign,
        }
        self.checks = [(rule, breaks) for rule, breaks in checks.items() if rule in cleaning.rules]
        self.of_repetitions = [rule for rule in (DUPLICATE, NEAR_DUPLICATE) if rule in cleaning.rules]
        check_languages_of({file: samples[file] for file in files}, self.foreign_tests)

    def fault(self, sides: Sequence[str], normalised: Sequence[str]) -> str:
        """The first rule that a sentence pair breaks by itself; empty for none.

        `normalised`: the sides as `zsnmt.corpora.overlap` compares them.
        """
        return next((rule for rule, breaks in self.checks if breaks(sides, normalised)), "")

    def digests(self, sides: Sequence[str], normalised: Sequence[str]) -> Iterator[bytes]:
        """Of a sentence pair by each rule of repetitions: `DIGEST` bytes, those of its repetitions, too."""
        for rule in self.of_repetitions:
            joined = "\n".join(sides) if rule == DUPLICATE else DIGITS.sub("0", "\n".join(normalised))
            yield blake2b(joined.encode("utf-8"), digest_size=DIGEST).digest()

    def _is_empty(self, sides: Sequence[str], normalised: Sequence[str]) -> bool:
        return not all(any(map(str.isalnum, side)) for side in normalised)

    def _is_copy(self, sides: Sequence[str], normalised: Sequence[str]) -> bool:
        return normalised[0] == normalised[1]

    def _is_long(self, sides: Sequence[str], normalised: Sequence[str]) -> bool:
        return max(map(len, sides)) > self.cleaning.longest

    def _is_unlike(self, sides: Sequence[str], normalised: Sequence[str]) -> bool:
        first, second = self.characters
        lengths = len(sides[0]) + SHORTEST, len(sides[1]) * first / second + SHORTEST
        return are_unlike(lengths, self.cleaning.ratio)

    def _is_foreign(self, sides: Sequence[str], normalised: Sequence[str]) -> bool:
        return any(
            self.foreign_tests[language](side)
            for language, side in zip(self.languages, sides)
            if language in self.foreign_tests
        )


def repetitions(digests: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """By rule, whether each sentence pair, of which these are the digests (N, of 64 bits), in their order,
    repeats one before; by the first rule alone.
    """
    result: dict[str, np.ndarray] = {}
    for rule, of_rule in digests.items():
        repeats = repeat_earlier(of_rule)
        for earlier in result.values():
            repeats &= ~earlier
        result[rule] = repeats
    return result


def repeat_earlier(digests: np.ndarray) -> np.ndarray:
    """Whether each digest (N, of 64 bits) is that of an earlier one.

    They are sorted in parts, so that little is in memory besides them.
    """
    repeats = np.ones(len(digests), dtype=bool)
    lowest = digests.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)[:, 0] % PARTS
    for part in range(PARTS):
        places = np.flatnonzero(lowest == part)
        repeats[places[np.unique(digests[places], return_index=True)[1]]] = False
    return repeats


def make_cleaners(
    cleaning: Cleaning, text: Path, pairs: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], Cleaner]:
    """What cleans each of some training pairs; none where there are no rules."""
    if not cleaning.rules:
        return {}
    files = {pair: find_pair(text, "train", *pair) for pair in pairs}
    samples = {file: sample_lines(file) for file in chain.from_iterable(files.values())}
    tests = foreign_tests(samples) if LANGUAGE in cleaning.rules else {}
    return {pair: Cleaner(cleaning, of_pair, samples, foreign_tests=tests) for pair, of_pair in files.items()}


def language_of(file: Path) -> str:
    return file.suffix[1:]


def characters_of(file: Path, sample: Sequence[str]) -> float:
    """How many characters a file has, about, from its bytes and the characters of some lines."""
    lines = "".join(sample)
    return file.stat().st_size * len(lines) / max(1, len(lines.encode("utf-8")))


def compared_lengths(
    files: Sequence[Path], samples: Mapping[Path, Sequence[str]], longest: int
) -> list[float]:
    """How long the lines of each file of a pair are, compared with each other: by all characters, or, where a
    few lines that are far too long would decide that, by those of the samples that are not.
    """
    characters = [characters_of(file, samples[file]) for file in files]
    usual = [[len(line) for line in samples[file] if len(line) <= longest] for file in files]
    if not all(map(any, usual)):
        return characters
    means = [*map(fmean, usual)]
    apart = characters[0] / max(1.0, characters[1]) * means[1] / means[0]
    return characters if 1 / APART < apart < APART else means


def foreign_tests(samples: Mapping[Path, Sequence[str]]) -> "dict[str, ForeignTest]":
    """What tells whether a sentence is in another language than each of those of the samples; none for one
    whose text has no letters.
    """
    from zsnmt.scoring.language_identification import ForeignTest, scripts_of  # loads py3langid

    lines: dict[str, list[str]] = {}
    for file, sample in samples.items():
        lines.setdefault(language_of(file), []).extend(sample)
    return {language: ForeignTest(language, script) for language, script in scripts_of(lines).items()}


def check_languages_of(samples: Mapping[Path, Sequence[str]], tests: "Mapping[str, ForeignTest]") -> None:
    """`InputError` for a file of a pair of which most lines seem to be in another language than its name
    says, and for files that seem to be exchanged. `samples`: some lines of both.
    """
    foreign = foreign_shares(samples, tests)
    if not foreign:
        return
    file, share = next(iter(foreign.items()))
    said = (
        f"{share:.0%} of the lines of {file} are not in {language_of(file)}, by their script and by "
        f"py3langid, so the rule '{LANGUAGE}' would leave most of it out"
    )
    exchanged = dict(zip(foreign, map(samples.__getitem__, reversed(foreign))))
    if len(foreign) == 2 and not foreign_shares(exchanged, foreign_tests(exchanged)):
        names = " and ".join(map(language_of, foreign))
        raise InputError(f"{said}; {names} seem to be exchanged: exchange the files of the pair")
    raise InputError(
        f"{said}; give text in {language_of(file)}, or take {LANGUAGE} out of the rules of cleaning"
    )


def foreign_shares(
    samples: Mapping[Path, Sequence[str]], tests: "Mapping[str, ForeignTest]"
) -> dict[Path, float]:
    """The files of which most lines seem to be in another language than their names say, with the share
    (0–1) of these lines.
    """
    known = {file: tests[language] for file in samples if (language := language_of(file)) in tests}
    shares = {
        file: sum(map(test, samples[file])) / max(1, len(samples[file])) for file, test in known.items()
    }
    return {file: share for file, share in shares.items() if share > HALF}
