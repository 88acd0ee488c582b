"""Raw text in, raw text out: a trained run translates between all its languages."""

import logging
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from zsnmt.data.reading import Codec
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.kinds import Kind
from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.options import BATCH_SENTENCES, BATCH_TOKENS, FLOAT16, EngineChoice
from zsnmt.decoding.search import Engine, Hypothesis, Search, Sentence
from zsnmt.errors import InputError
from zsnmt.inference.bundles import Bundler, companions
from zsnmt.inference.engines import larger_batches, open_engine, prepare_engine
from zsnmt.inference.parts import Part, batches_of_parts, warn_of_parts
from zsnmt.inference.translation import Translation, best_of_parts, join_translations
from zsnmt.languages import Direction
from zsnmt.processes import Progress, unheard
from zsnmt.text.piece_counts import PieceCounts

logger = logging.getLogger(__name__)

BEGINNING = 40  # characters of a line that say which one it is
CHARACTERS_SHOWN = 5
SURROGATE = re.compile("[\ud800-\udfff]")  # half of a character of UTF-16


class Translator:
    """Raw text in, raw text out, by any engine; `Translator.open` takes a run folder or an export.

    In float32 a translation depends on its batch only where rounding makes two candidates of the search
    equal (docs/method.md, "What is exact, and where"): then either is kept, and what is found in the end may
    differ by more than rounding. A batch holds about `batch_tokens` source tokens and at most
    `batch_sentences`. `signature` names what of the engine changes translations; `settings` is what it
    searches with, by which scores become log-probabilities. With a `method`, which `by` gives it, `direct` is
    the one that translates without.
    """

    def __init__(
        self,
        engine: Engine,
        codec: Codec,
        *,
        settings: Search = Search(),
        batch_tokens: int = BATCH_TOKENS,
        batch_sentences: int = BATCH_SENTENCES,
        method: Method | None = None,
        direct: "Translator | None" = None,
    ) -> None:
        self.engine, self.codec, self.settings = engine, codec, settings
        self.batch_tokens, self.batch_sentences = batch_tokens, batch_sentences
        self.method, self.direct = method, direct or self
        self.told_of: set[str] = set() if direct is None else direct.told_of  # unknown characters
        self.signature = engine.signature
        self.pipeline, self.languages, self.trained, self.pivot = (
            codec.pipeline,
            codec.languages,
            codec.trained,
            codec.pivot,
        )

    @classmethod
    def open(
        cls,
        folder: Path,
        search: Search = Search(),
        choice: EngineChoice = EngineChoice(),
        *,
        batch_tokens: int | None = None,
        prepare: bool = False,
    ) -> "Translator":
        """The model of a run folder, or of its export, with its text pipeline; nothing outside the folder
        is read. `prepare`: make the export first that the engine needs. On a GPU batches are larger.
        """
        folder = Path(folder)
        if prepare:
            prepare_engine(folder, search, choice)
        engine, codec = open_engine(folder, search, choice)
        larger = larger_batches(engine)
        return cls(
            engine,
            codec,
            settings=search,
            batch_tokens=batch_tokens or BATCH_TOKENS * larger,
            batch_sentences=BATCH_SENTENCES * larger,
        )

    def by(self, method: Method, counts: PieceCounts | None = None) -> "Translator":
        """The same model, which translates by a method; `counts` are of its pieces, which masks need.

        An ensemble reads translations by the search of this one, also where it has a beam of its own. Raises
        `InputError` for an engine that cannot, and for languages that the model does not know.
        """
        method = method.of(self.languages)
        search = method.search(self.direct.settings)
        if method.kind.is_drawn and search.beam > 1:
            raise InputError(
                f"a {method.name} is one hypothesis, not {search.beam}; give {method.name}:beam=1"
            )
        engine = self.direct.engine.by(method, self.codec, search=search, counts=counts)
        return Translator(
            engine,
            self.codec,
            settings=search,
            batch_tokens=self.batch_tokens,
            batch_sentences=self.batch_sentences,
            method=None if method.is_search else method,
            direct=self.direct,
        )

    def translate(
        self,
        lines: Iterable[str],
        target: str,
        source: str | None = None,
        *,
        via: str | None = None,
        first_line: int | None = 1,
        finished: Progress = unheard,
    ) -> list[str]:
        """Translate raw lines into the target language, through another one if `via` is given.

        One line for each line, in order; empty lines stay empty; a line too long for the model is
        translated in parts, with a warning that counts lines from `first_line`, or without it has the line's
        beginning. `finished` is told the number of lines that each batch ends. Raises `InputError` for an
        unknown language, for a language into itself, and without `source` where the model needs it.
        """
        found = self.translate_with_scores(
            lines, target, source, via=via, first_line=first_line, finished=finished
        )
        return [each.text for each in found]

    def translate_with_scores(
        self,
        lines: Iterable[str],
        target: str,
        source: str | None = None,
        *,
        via: str | None = None,
        first_line: int | None = 1,
        finished: Progress = unheard,
    ) -> list[Translation]:
        """What `translate` gives, with the log-probabilities."""
        lines = listed(lines)
        legs = self.legs(source, target, via)
        translations = [*map(Translation, lines)]
        for direction in legs:
            following = self.translate_into_with_scores(
                [each.text for each in translations],
                [direction],
                first_line=first_line,
                finished=lambda number: finished(number / len(legs)),
            )
            pairs = zip(following[direction], translations, strict=True)
            translations = [each.add_first_leg(first) for each, first in pairs]
        return translations

    def legs(self, source: str | None, target: str, via: str | None) -> list[Direction]:
        """The directions that a translation goes through, one or two, checked."""
        if self.method is not None:
            self._check_method(self.method, source, target, via=via)
        if via is None or source == target:  # which is refused
            return [self.codec.direction(source, target)]
        if via in (source, target):
            raise InputError(
                f"'{via}' is the source or the target already; leave it out, or name a third language (--via)"
            )
        return [self.codec.direction(source, via), self.codec.direction(via, target)]

    def _check_method(self, method: Method, source: str | None, target: str, *, via: str | None) -> None:
        """`InputError` for what a method cannot translate."""
        if via is not None and (fault := method.fault_through(via)):
            raise InputError(fault)
        if source is None and method.kind.needs_source:
            raise InputError(
                f"a translation by {method.name} must be told the source language; give it (--from)"
            )
        if fault := method.fault(self.codec.direction(source, target)):
            raise InputError(fault)

    def translate_into(
        self,
        lines: Iterable[str],
        directions: Sequence[Direction],
        *,
        first_line: int | None = 1,
        finished: Progress = unheard,
    ) -> dict[Direction, list[str]]:
        """Translate raw lines of one language into several at once; see `translate`.

        All translations of a line are in one batch, or in two neighbours, so that it is encoded once unless
        its tags name the target. Raises `InputError` as `translate` does, and for directions that are not all
        from one language.
        """
        found = self.translate_into_with_scores(lines, directions, first_line=first_line, finished=finished)
        return {direction: [each.text for each in of_direction] for direction, of_direction in found.items()}

    def translate_into_with_scores(
        self,
        lines: Iterable[str],
        directions: Sequence[Direction],
        *,
        first_line: int | None = 1,
        finished: Progress = unheard,
        through: Mapping[str, Sequence[str]] | None = None,
    ) -> dict[Direction, list[Translation]]:
        """What `translate_into` gives, with the log-probabilities.

        `through`: what an ensemble reads as the lines in each of its other languages, in place of its own
        translations.
        """
        lines, directions = listed(lines), self.checked(directions)
        of_lines: dict[Direction, list[list[Translation]]] = {
            direction: [[] for _ in lines] for direction in directions
        }
        parts = list(self.parts_of(lines, directions, first_line))
        parts_by_line = Counter(part.line for part in parts)  # in all directions
        finished((len(lines) - len(parts_by_line)) * len(directions))  # the empty ones
        translated: dict[int, Translation] = {}
        for batch, hypotheses in self.search(
            parts, self.engine_inputs(parts, lines, first_line, through=through)
        ):
            for place, (best, *_) in zip(batch, hypotheses, strict=True):
                translated[place] = self.translation(best, parts[place].direction.target)
            finished(sum(len(directions) / parts_by_line[parts[place].line] for place in batch))
        for place, part in enumerate(parts):
            of_lines[part.direction][part.line].append(translated[place])
        return {
            direction: [*map(join_translations, of_direction)] for direction, of_direction in of_lines.items()
        }

    def translation(self, hypothesis: Hypothesis, language: str) -> Translation:
        """A hypothesis in a language as raw text."""
        text = self.codec.text(hypothesis.tokens, language)
        if not self.kind.has_probabilities:
            return Translation(text, score=hypothesis.score)
        return Translation(
            text, self.settings.log_probability(hypothesis), len(hypothesis.tokens), score=hypothesis.score
        )

    def checked(self, directions: Iterable[Direction]) -> list[Direction]:
        """The directions, each once; `InputError` for unknown languages, and for lines of several."""
        kept = [self.codec.direction(*direction) for direction in dict.fromkeys(directions)]
        sources = {direction.source for direction in kept}
        if len(sources) != 1:
            given = f"the directions are from {' and '.join(sorted(sources))}" if sources else "there is none"
            raise InputError(f"lines are translated in directions from one language, and {given}")
        return kept

    def n_best(
        self, lines: Iterable["Line"], *, first_line: int | None = None, finished: Progress = unheard
    ) -> list[list[Translation]]:
        """The best translations of raw lines, each in a direction of its own, that differ, best first; no
        more than the search keeps.

        Of a line in parts they are made of those of its parts (`best_of_parts`); without `first_line` no
        warning says that it is in parts. `finished` is told the number of lines that each batch ends.
        """
        lines = [*lines]
        for line in lines:
            self.codec.direction(*line.direction)  # checks it
        cut = [
            self.codec.parts(line.text, line.direction.source, self.codec.room(line.direction))
            for line in lines
        ]
        if first_line is not None:
            for number, (line, tokens) in enumerate(zip(lines, cut), start=first_line):
                warn_of_parts(tokens, self.codec.room(line.direction), f"line {number}")
                self.warn_of_unknown(tokens, line.text, line.direction.source, name=f"line {number}")
        parts = [
            Part(place, line.direction, tokens, whole=len(cut[place]) == 1)
            for place, line in enumerate(lines)
            for tokens in cut[place]
        ]
        read_besides = [line.companion for line in lines]
        sentences = self.bundles(parts, read_besides, through=self.through_pivots(lines))
        of_part: dict[int, list[Hypothesis]] = {}
        finished(cut.count([]))  # the empty ones
        for batch, hypotheses in self.search(parts, sentences):
            of_part.update(zip(batch, hypotheses, strict=True))
            finished(sum(1 / len(cut[parts[place].line]) for place in batch))
        of_line: list[list[Iterator[Translation]]] = [[] for _ in lines]
        for place, part in enumerate(parts):
            of_line[part.line].append(map(self.translation, of_part[place], repeat(part.direction.target)))
        return [best_of_parts(of_parts, line.number) for line, of_parts in zip(lines, of_line, strict=True)]

    def through_pivots(self, lines: Sequence["Line"]) -> dict[str, list[str]]:
        """For an ensemble, the translation of each line into each pivot; nothing where its direction has
        none.
        """
        kind = self.kind
        through = {pivot: [""] * len(lines) for pivot in kind.through}
        if not through:
            return through
        asked = [
            (place, pivot, Line(line.text, Direction(line.direction.source, pivot)))
            for place, line in enumerate(lines)
            for pivot in kind.pivots(line.direction)
        ]
        made = self.direct.n_best([line for _, _, line in asked])
        for (place, pivot, _), (best, *_) in zip(asked, made, strict=True):
            through[pivot][place] = best.text
        return through

    def search(
        self, parts: Sequence[Part], sentences: Sequence[Sentence | Bundle]
    ) -> Iterator[tuple[list[int], list[list[Hypothesis]]]]:
        """Places of parts that were translated together, and the hypotheses of each, best first; `sentences`
        are what the engine takes of the parts.
        """
        batches = list(self.batches(parts))
        results = self.engine.translate([sentences[place] for place in batch] for batch in batches)
        yield from zip(batches, results, strict=True)

    def engine_inputs(
        self,
        parts: Sequence[Part],
        lines: Sequence[str],
        first_line: int | None,
        through: Mapping[str, Sequence[str]] | None = None,
    ) -> Sequence[Sentence | Bundle]:
        """What the engine takes of the parts of a text's lines: with a method, what it reads besides, too. An
        ensemble reads the lines in other languages as they are given, `through`, or translates them first.
        """
        if through is None:
            pivots = dict.fromkeys(pivot for part in parts for pivot in self.kind.pivots(part.direction))
            into = [Direction(parts[0].direction.source, pivot) for pivot in pivots]
            translations = self.direct.translate_into(lines, into, first_line=first_line) if into else {}
            through = {direction.target: made for direction, made in translations.items()}
        return self.bundles(parts, companions(self.method, lines), through=through)

    def bundles(
        self, parts: Sequence[Part], companions: Sequence[str], *, through: Mapping[str, Sequence[str]]
    ) -> Sequence[Sentence | Bundle]:
        """What the engine takes of parts of lines, with what a method reads besides (`Bundler`)."""
        if self.method is None:
            return [self.codec.sentence(part.tokens, part.direction) for part in parts]
        return Bundler(self.codec, self.method, companions, through=through).bundles(parts)

    def parts_of(
        self, lines: Sequence[str], directions: Sequence[Direction], first_line: int | None
    ) -> Iterator[Part]:
        """What the model is to translate of lines of one language, all translations of a part one after
        the other.
        """
        source = directions[0].source
        room = min(map(self.codec.room, directions))
        for index, line in enumerate(lines):
            parts = self.codec.parts(line, source, room)
            beginning = f"what begins '{line[:BEGINNING]}'"
            name = beginning if first_line is None else f"line {first_line + index}"
            warn_of_parts(parts, room, name)
            self.warn_of_unknown(parts, line, source, name=name)
            for tokens in parts:
                for direction in directions:
                    yield Part(index, direction, tokens, whole=len(parts) == 1)

    def warn_of_unknown(self, parts: Sequence[Sequence[int]], line: str, language: str, *, name: str) -> None:
        """Say of a line, named so, which of its characters the model does not know, of each once."""
        unknown = self.codec.dictionary.unk()
        if not any(unknown in tokens for tokens in parts):
            return
        new = [piece for piece in self.codec.unknown(line, language) if piece not in self.told_of]
        if not new:
            return
        shown, more = new[:CHARACTERS_SHOWN], ", ..." * (len(new) > CHARACTERS_SHOWN)
        self.told_of.update(shown)
        logger.warning(
            "%s has %s, which the model never saw in training and cannot write (said once of each)",
            name,
            ", ".join(f"'{piece}'" for piece in shown) + more,
        )

    @property
    def kind(self) -> Kind:
        """The kind of its method; without one, a kind that reads nothing besides the line."""
        return self.method.kind if self.method else Kind()

    @property
    def depends_on_batches(self) -> bool:
        """Whether a translation may be another in another batch: a sample, which is drawn for a batch, and in
        float16, where rounding decides.
        """
        return self.kind.is_drawn or FLOAT16 in self.signature

    def batches(self, parts: Sequence[Part]) -> Iterator[list[int]]:
        """Places of the parts in batches of like length (`batches_of_parts`), each of one language if it is
        searched among the pieces of one.
        """
        # Several GPUs have a part of a small text each, unless another batch would change a translation.
        gpus = 1 if self.depends_on_batches else self.engine.gpus
        return batches_of_parts(
            parts,
            tokens=self.batch_tokens,
            most=min(self.batch_sentences, max(BATCH_SENTENCES, math.ceil(len(parts) / gpus))),
            apart=self.method is not None and self.method.renormalises,
        )


class Line(NamedTuple):
    """A raw line to translate in a direction, how many translations are wanted, and the line that a contrast
    reads besides.
    """

    text: str
    direction: Direction
    number: int = 1
    companion: str = ""


def listed(lines: Iterable[str]) -> list[str]:
    """The lines as a list. `InputError` for a text in place of lines, which would be its letters, and for a
    line that is no text, or that no file can hold.
    """
    if isinstance(lines, str):
        raise InputError("the lines are a single text; give a list of lines, as in [text]")
    lines = [*lines]
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, str):
            raise InputError(f"line {number} is of {type(line).__name__}, and no text; give a list of str")
        if SURROGATE.search(line):
            raise InputError(
                f"line {number} has half of a surrogate pair, which is no character; read its file as UTF-8, "
                "or leave it out"
            )
    return lines
