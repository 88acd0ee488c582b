"""What a method searches with, for each part of a text: the part, and what is read beside it."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache, singledispatchmethod

from zsnmt.data.reading import Codec
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.kinds import Contrast, Ensemble, Kind
from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.search import Sentence
from zsnmt.errors import InputError
from zsnmt.inference.parts import Part
from zsnmt.languages import Direction

logger = logging.getLogger(__name__)


class Bundler:
    """Makes bundles of the parts of some lines.

    `companions`: for a contrast of sources, another line of the text for each, see `companions`; `through`:
    for an ensemble, the lines' translations by pivot.
    """

    def __init__(
        self, codec: Codec, method: Method, companions: Sequence[str], through: Mapping[str, Sequence[str]]
    ) -> None:
        self.codec, self.method, self.companions, self.through = codec, method, companions, through
        self.alone = 0  # sentences of an ensemble whose other sources cannot be read
        self.tokens = lru_cache(maxsize=None)(self._tokens)

    def bundles(self, parts: Sequence[Part]) -> list[Bundle]:
        """A bundle for each part."""
        bundles = [self._bundle(self.method.kind, part) for part in parts]
        if self.alone:
            logger.warning(
                "%d translations have one source alone, as they or their sources in %s are empty or longer "
                "than the model reads",
                self.alone,
                "+".join(self.through),
            )
        return bundles

    @singledispatchmethod
    def _bundle(self, kind: Kind, part: Part) -> Bundle:
        """A part alone."""
        return Bundle(part.direction.target, (self._sentence(part),))

    def _sentence(self, part: Part) -> Sentence:
        return self.codec.sentence(part.tokens, part.direction)

    @_bundle.register
    def _ensemble(self, kind: Ensemble, part: Part) -> Bundle:
        """A part that is a whole line with the line's translations; others alone."""
        target = part.direction.target
        sources = {
            pivot: self.tokens(self.through[pivot][part.line], pivot) for pivot in kind.pivots(part.direction)
        }
        if not part.whole or any(len(parts) != 1 for parts in sources.values()):
            self.alone += 1
            return Bundle(target, (self._sentence(part),))
        others = [
            self.codec.sentence(tokens, Direction(pivot, target)) for pivot, (tokens,) in sources.items()
        ]
        return Bundle(target, (self._sentence(part), *others))

    @_bundle.register
    def _contrast(self, kind: Contrast, part: Part) -> Bundle:
        """A part with the same into other languages, and with another line into the same."""
        source, target = part.direction
        weighted = []
        if kind.language_weight:
            weighted = [
                (kind.language_weight, self.codec.sentence(part.tokens, Direction(source, language)))
                for language in kind.contrasted(part.direction)
            ]
        if kind.source_weight:
            weighted += [
                (kind.source_weight, self.codec.sentence(companion, part.direction))
                for companion in self.tokens(self.companions[part.line], source)[:1]
            ]
        weights, others = zip(*weighted) if weighted else ((), ())
        return Bundle(target, (self._sentence(part), *others), weights)

    def _tokens(self, line: str, language: str) -> list[list[int]]:
        """Tokens of a line in as many parts as the model reads of it."""
        anywhere = next(target for target in self.codec.languages if target != language)
        return self.codec.parts(line, language, self.codec.room(Direction(language, anywhere)))


def companions(method: Method | None, lines: Sequence[str]) -> list[str]:
    """What a method reads beside each line of a text, in the same language; `InputError` for a contrast of
    sources where all lines are one.
    """
    if method and method.kind.reads_others:
        return next_lines(lines)
    return [""] * len(lines)


def next_lines(lines: Sequence[str]) -> list[str]:
    """For each line the next one that says something else, after the last line the first; empty ones are
    passed over.

    Raises `InputError` where all lines say the same.
    """
    if len({line for line in lines if line.strip()}) == 1:
        raise InputError(
            "a contrast of sources needs another line of the text, and all of this one are alike; give it "
            "two different lines at least, or source_weight=0"
        )
    companions, following, beyond = [""] * len(lines), "", ""  # `beyond`: the next that is not `following`
    for place in reversed(range(2 * len(lines))):
        line = lines[place % len(lines)]
        companions[place % len(lines)] = following if line != following else beyond
        if line.strip() and line != following:
            following, beyond = line, following
    return companions
