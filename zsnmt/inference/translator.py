"""Raw text in, raw text out: a trained run translates between all its languages."""

import logging
from collections import Counter
from pathlib import Path
from typing import Callable, Iterator, NamedTuple, Optional, Sequence

from zsnmt.data.language_tags import source_tags
from zsnmt.decoding.length_penalty import POWER
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Hypothesis, Search, Sentence
from zsnmt.errors import InputError
from zsnmt.inference.engines import open_engine
from zsnmt.languages import Direction, check_known
from zsnmt.training.binarised import encode

logger = logging.getLogger(__name__)

BATCH_SENTENCES = 64


class Translator:
    """The model of a run folder, or of its export, with its text pipeline; nothing outside the folder is read.

    In float32 a translation does not depend on its batch, but for rounding. `beam` and `length_penalty`
    (score = log-probability / length^penalty, or / ((5 + length) / 6)^penalty in the form `gnmt`) default to the
    paper's; a batch holds about `batch_tokens` source tokens, and no more than 64 sentences. The first language of a
    run is its pivot.
    """

    def __init__(
        self,
        run: Path,
        beam: int = 4,
        length_penalty: float = 1.0,
        length_penalty_form: str = POWER,
        batch_tokens: int = 4000,
        choice: EngineChoice = EngineChoice(),
    ) -> None:
        search = Search(beam, length_penalty, length_penalty_form)  # refused before a model is read
        self.engine, known = open_engine(run, search, choice)
        self.signature = self.engine.signature
        self.pipeline, self.dictionary, self.placement = known.pipeline, known.dictionary, known.placement
        self.languages, self.trained, self.longest = known.languages, known.trained, known.longest
        self.pivot = self.languages[0]
        self.batch_tokens = batch_tokens

    def translate(
        self,
        lines: Sequence[str],
        target: str,
        source: Optional[str] = None,
        via: Optional[str] = None,
        first_line: int = 1,
        finished: Callable[[float], object] = lambda number: None,
    ) -> list[str]:
        """Translate raw lines into the target language, through another one if `via` is given.

        One line for each line, in order; empty lines stay empty; a line too long for the model is
        translated in parts, with a warning that counts lines from `first_line`. `finished` is told the
        number of lines that each batch ends. Raises `InputError` for an unknown language, for a
        language into itself, and without `source` where the model needs it.
        """
        legs = self.legs(source, target, via)
        for direction in legs:
            translated = self.translate_into(lines, [direction], first_line, lambda number: finished(number / len(legs)))
            lines = translated[direction]
        return list(lines)

    def legs(self, source: Optional[str], target: str, via: Optional[str]) -> list[Direction]:
        """The directions that a translation goes through, one or two, checked."""
        if via is None:
            return [self.direction(source, target)]
        return [self.direction(source, via), self.direction(via, target)]

    def direction(self, source: Optional[str], target: str) -> Direction:
        """The direction of a translation, checked; any source will do where the model does not see it."""
        check_known(target, self.languages)
        if source == target:
            raise InputError(f"source and target are both '{target}'; give two different languages")
        if source is not None:
            return Direction(check_known(source, self.languages), target)
        anything = Direction(next(language for language in self.languages if language != target), target)
        if self.pipeline.needs_language or anything.source in source_tags(self.placement.name, anything):
            raise InputError(f"this model must be told the source language: one of {', '.join(self.languages)}")
        return anything

    def translate_into(
        self,
        lines: Sequence[str],
        directions: Sequence[Direction],
        first_line: int = 1,
        finished: Callable[[float], object] = lambda number: None,
    ) -> dict[Direction, list[str]]:
        """Translate raw lines of one language into several at once; see `translate`.

        All translations of a line are in one batch, or in two neighbours, so that it is encoded once unless its tags name
        the target.
        """
        translations = {direction: [""] * len(lines) for direction in directions}
        parts = list(self.parts_of(lines, directions, first_line))
        pieces_of = Counter(part.line for part in parts)  # in all directions
        finished((len(lines) - len(pieces_of)) * len(directions))  # the empty ones
        translated: dict[int, str] = {}
        batches = list(self.batches(parts))
        found = self.engine.translate([self.sentence(parts[place]) for place in batch] for batch in batches)
        for batch, of_batch in zip(batches, found, strict=True):
            for place, hypotheses in zip(batch, of_batch, strict=True):
                translated[place] = self.text_of(hypotheses[0], parts[place].direction.target)
            finished(sum(len(directions) / pieces_of[parts[place].line] for place in batch))
        for place, part in enumerate(parts):
            of_direction = translations[part.direction]
            of_direction[part.line] = f"{of_direction[part.line]} {translated[place]}".strip()
        return translations

    def parts_of(self, lines: Sequence[str], directions: Sequence[Direction], first_line: int) -> Iterator["Part"]:
        """What the model is to translate of lines of one language, all translations of a part one after the other."""
        source, *others = {direction.source for direction in directions}
        assert not others, "lines are of one language"
        longest = self.longest - 1 - max(len(source_tags(self.placement.name, direction)) for direction in directions)
        for index, line in enumerate(lines):
            for tokens in self.parts(first_line + index, line, source, longest):
                for direction in directions:
                    yield Part(index, direction, tokens)

    def parts(self, number: int, line: str, source: str, longest: int) -> Iterator[list[int]]:
        """Ids of a line's pieces, each part with EOS: none for an empty line, several for one of more than `longest` pieces."""
        pieces = self.pipeline.encode(line, source)
        if len(pieces) > longest:
            logger.warning(
                "line %d has %d pieces and the model reads at most %d: translated in parts", number, len(pieces), longest
            )
        while pieces:
            cut = longest
            if len(pieces) > longest:  # before the last word that begins in reach
                cut = max((i for i in range(1, longest + 1) if self.pipeline.starts_word(pieces[i])), default=longest)
            yield encode(pieces[:cut], self.dictionary).tolist()
            pieces = pieces[cut:]

    def batches(self, parts: Sequence["Part"]) -> Iterator[list[int]]:
        """Places of the parts in batches of like length, the longest first; those of one line stay together."""
        batch: list[int] = []
        for place in sorted(range(len(parts)), key=lambda place: -len(parts[place].tokens)):
            full = batch and len(parts[batch[0]].tokens) * (len(batch) + 1) > self.batch_tokens
            if full or len(batch) == BATCH_SENTENCES:
                yield batch
                batch = []
            batch.append(place)
        if batch:
            yield batch

    def sentence(self, part: "Part") -> Sentence:
        """A part as an engine reads it."""
        return Sentence([*self.placement.source_prefix(part.direction), *part.tokens], self.placement.decoder_start(part.direction))

    def text_of(self, hypothesis: Hypothesis, language: str) -> str:
        """A translation as raw text."""
        tokens = [token for token in hypothesis.tokens if token >= self.dictionary.nspecial]
        return self.pipeline.decode([self.dictionary[token] for token in tokens], language)


class Part(NamedTuple):
    """A line, or a part of one too long, to translate in a direction: the line's index, and token ids with EOS."""

    line: int
    direction: Direction
    tokens: list[int]
