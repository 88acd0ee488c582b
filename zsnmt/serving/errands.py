"""What is to be done for a request: a text, its lines, and the way that they go."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zsnmt.inference.bundles import companions
from zsnmt.inference.confidence import agreement_score, other_way
from zsnmt.inference.translation import Legs, Translation, join_translations
from zsnmt.languages import Direction
from zsnmt.serving.batcher import Journey
from zsnmt.serving.systems import System
from zsnmt.serving.texts import SplitText, words_in


@dataclass(frozen=True)
class Errand:
    """A text, the language that it is to be in, the directions to there, none where it is already, and the
    method to translate by, if any.
    """

    text: SplitText
    target: str
    legs: tuple[Direction, ...]
    way: str | None = None

    @property
    def lines(self) -> list[str]:
        """What is translated."""
        return self.text.lines if self.legs else []

    def journeys(self, system: System) -> list[Journey]:
        """Its lines on their way; `InputError` for a text of one line where another is needed."""
        beside = companions(system.translator_by(self.way).method, self.lines)
        return [
            Journey(line, self.legs, self.way, companion=other)
            for line, other in zip(self.lines, beside, strict=True)
        ]

    def best_texts(self, found: Sequence[Sequence[Translation]]) -> list[Translation]:
        """The best texts that differ, made of the translations of its lines, best first. Their tokens are
        those of whole sentences.
        """
        best: dict[str, Translation] = {}
        for rank in range(max(map(len, found), default=1)):
            made = {
                line: each[min(rank, len(each) - 1)] for line, each in zip(self.lines, found, strict=True)
            }
            text = self.text.fill({line: each.text for line, each in made.items()}, self.target)
            sentences = (made[line] for line in self.text.whole_lines if line in made)
            best.setdefault(text, join_translations(sentences)._replace(text=text))
        return [*best.values()]


def other_ways(system: System, errands: Sequence[Errand]) -> dict[int, Errand]:
    """By the place of an errand, the one whose translation is compared with its own."""
    others = {}
    for place, errand in enumerate(errands):
        if not errand.legs:
            continue
        (source, middle), *further = errand.legs
        other = other_way(system.translator, Legs(source, errand.target, middle if further else None))
        if other is not None:
            # Not the way of the system, whose `via` is the one that is compared with.
            others[place] = Errand(errand.text, errand.target, (*system.translator.legs(*other),))
    return others


def agreements(pairs: Iterable[tuple[str, str]], form: str) -> list[float | None]:
    """How far the words of two translations agree (0–100)."""
    return [agreement_score(*(words_in(text, form) for text in pair)) for pair in pairs]
