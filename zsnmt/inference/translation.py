"""What a translator is asked for, and what it gives: a text, and what the model thinks of it."""

import json
from collections.abc import Iterable
from itertools import product
from operator import attrgetter
from typing import NamedTuple

from zsnmt.text.unspaced import join_texts

TSV, JSONL = FORMATS = ("tsv", "jsonl")  # of rows
AGREEMENT = "agreement"
DIGITS = {"mean_log_probability": 4, AGREEMENT: 2}


class Legs(NamedTuple):
    """From what language (`auto`: identified), to which, and through which one if any."""

    source: str | None
    target: str
    via: str | None = None


class Translation(NamedTuple):
    """A text in another language; the log-probability of all its tokens, ends of sentences among them, and
    their number: 0 where the model did not write it, or has no probability of it.

    Of a text that came through another language they are those of both translations together. `agreement`
    is with another translation of the same (`zsnmt.inference.confidence`). By its `score` the search ranks
    it: the log-probability over the length penalty; of a text in parts the sum of theirs.
    """

    text: str
    log_probability: float = 0.0
    tokens: int = 0
    agreement: float | None = None
    score: float = 0.0

    @property
    def mean_log_probability(self) -> float | None:
        """Of a token, in nats, at most 0; None without tokens."""
        return self.log_probability / self.tokens if self.tokens else None

    def add_first_leg(self, first: "Translation") -> "Translation":
        """The text with the tokens of the translation that it was made from, too."""
        return join_translations([first, self])._replace(text=self.text)


def join_translations(translations: Iterable[Translation]) -> Translation:
    """One text of several, with spaces between where their script has them."""
    translations = [*translations]
    return Translation(
        join_texts(each.text for each in translations),
        sum(each.log_probability for each in translations),
        sum(each.tokens for each in translations),
        score=sum(each.score for each in translations),
    )


def figures(translation: Translation, agreement: bool) -> dict[str, float | None]:
    """What is said of a translation: its mean log-probability, and its agreement where that is asked for."""
    names = [name for name in DIGITS if agreement or name != AGREEMENT]
    values = {name: getattr(translation, name) for name in names}
    return {
        name: None if value is None else round(value, DIGITS[name]) + 0.0 for name, value in values.items()
    }


def first_that_differ(translations: Iterable[Translation], number: int) -> list[Translation]:
    """The first of each text, at most so many."""
    found: dict[str, Translation] = {}
    for each in translations:
        found.setdefault(each.text, each)
        if len(found) == number:
            break
    return [*found.values()]


def best_of_parts(parts: Iterable[Iterable[Translation]], number: int) -> list[Translation]:
    """The best translations of a text that differ, at most so many, best first: of those of its parts, best
    first, the ones together whose scores have the highest sums.
    """
    best = [Translation("")]
    for part in parts:
        longer = map(join_translations, product(best, first_that_differ(part, number)))
        best = first_that_differ(sorted(longer, key=attrgetter("score"), reverse=True), number)
    return best


def n_best_row(line: int, translation: Translation) -> str:
    """One of the best translations of a line, as Moses writes them: the line's number, counted from 0, the
    text and its score.
    """
    digits = DIGITS["mean_log_probability"]
    return f"{line} ||| {translation.text} ||| {round(translation.score, digits) + 0.0:.{digits}f}"


def row(translation: Translation, form: str | None, agreement: bool) -> str:
    """A translation on one line: its text; in a form its figures and the text with tabs between, or JSON."""
    if form is None:
        return translation.text
    said = figures(translation, agreement)
    if form == JSONL:
        return json.dumps({"translation": translation.text, **said}, ensure_ascii=False)
    values = ["" if value is None else f"{value:.{DIGITS[name]}f}" for name, value in said.items()]
    return "\t".join([*values, translation.text])
