"""Raw text in, raw text out: a trained run translates between all its languages."""

import logging
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Callable, Iterator, NamedTuple, Optional, Sequence

import torch
from fairseq import checkpoint_utils, utils

import zsnmt.models  # noqa: F401  (registers)
import zsnmt.tasks  # noqa: F401
from zsnmt.averaging import readable
from zsnmt.binarised import encode
from zsnmt.errors import InputError
from zsnmt.languages import Direction, check_known, parse_direction, source_tags
from zsnmt.length_penalty import POWER, search_penalty
from zsnmt.modules.encode_once import EncodeOnce
from zsnmt.runs import MODEL_FILE, PIPELINE_FOLDER
from zsnmt.text.pipeline import TextPipeline

logger = logging.getLogger(__name__)


class Translator:
    """A run folder's model with its text pipeline; nothing outside the folder is read.

    A translation does not depend on its batch, but for outputs that would not end: fairseq cuts them
    at 1.2 times the longest source of the batch + 50 tokens. `beam` and `length_penalty` (score =
    log-probability / length^penalty, or / ((5 + length) / 6)^penalty in the form `gnmt`) default to the
    paper's; a batch holds about `batch_tokens` source tokens. The first language of a run is its pivot.
    """

    def __init__(
        self,
        run: Path,
        beam: int = 4,
        length_penalty: float = 1.0,
        length_penalty_form: str = POWER,
        batch_tokens: int = 4000,
        checkpoint: str = MODEL_FILE,
    ) -> None:
        search_penalty(length_penalty, length_penalty_form)  # refused before a model is read
        if not (run / PIPELINE_FOLDER).is_dir():
            raise InputError(f"{run} is no run folder: it has no {PIPELINE_FOLDER}/; give one made by recipes/train.sh")
        path = run / checkpoint
        overrides = {"data": str(run / PIPELINE_FOLDER), "source_lang": None, "target_lang": None}
        with readable(path):
            state = checkpoint_utils.load_checkpoint_to_cpu(str(path), overrides)
            models, cfg, self.task = checkpoint_utils.load_model_ensemble_and_task([str(path)], state=state)
        self.model = models[0].eval()
        self.model.prepare_for_inference_(cfg)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model.to(self.device)
        self.pipeline = TextPipeline.load(run / PIPELINE_FOLDER)
        self.dictionary = self.task.target_dictionary
        self.languages: list[str] = list(self.task.langs)
        self.pivot = self.languages[0]
        self.trained = [parse_direction(pair) for pair in self.task.trained_directions]
        self.batch_tokens = batch_tokens
        self.search = Namespace(
            beam=beam, lenpen=length_penalty, length_penalty_form=length_penalty_form, max_len_a=1.2, max_len_b=50
        )
        self.generator = self.task.build_generator(EncodeOnce([self.model]), self.search)

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
        if self.pipeline.needs_language or anything.source in source_tags(self.task.placement.name, anything):
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
        for batch in self.batches(parts):
            translated.update(zip(batch, self.translate_batch([parts[place] for place in batch])))
            finished(sum(len(directions) / pieces_of[parts[place].line] for place in batch))
        for place, part in enumerate(parts):
            of_direction = translations[part.direction]
            of_direction[part.line] = f"{of_direction[part.line]} {translated[place]}".strip()
        return translations

    def parts_of(self, lines: Sequence[str], directions: Sequence[Direction], first_line: int) -> Iterator["Part"]:
        """What the model is to translate of lines of one language, all translations of a part one after the other."""
        source, *others = {direction.source for direction in directions}
        assert not others, "lines are of one language"
        longest = self.task.max_positions()[0] - 1
        longest -= max(len(source_tags(self.task.placement.name, direction)) for direction in directions)
        for index, line in enumerate(lines):
            for tokens in self.parts(first_line + index, line, source, longest):
                for direction in directions:
                    yield Part(index, direction, tokens)

    def parts(self, number: int, line: str, source: str, longest: int) -> Iterator[torch.Tensor]:
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
            yield encode(pieces[:cut], self.dictionary)
            pieces = pieces[cut:]

    def batches(self, parts: Sequence["Part"]) -> Iterator[list[int]]:
        """Places of the parts in batches of like length, the longest first; those of one line stay together."""
        batch: list[int] = []
        for place in sorted(range(len(parts)), key=lambda place: -len(parts[place].tokens)):
            if batch and len(parts[batch[0]].tokens) * (len(batch) + 1) > self.batch_tokens:
                yield batch
                batch = []
            batch.append(place)
        if batch:
            yield batch

    def translate_batch(self, parts: Sequence["Part"]) -> list[str]:
        """The best translation of each part, as raw text."""
        examples = []
        for place, part in enumerate(parts):
            data = self.task.inference_dataset([part.tokens], [len(part.tokens)], part.direction)
            examples.append({**data[0], "id": place})
        sample = data.collater(examples)
        if self.device.type == "cuda":
            sample = utils.move_to_cuda(sample)
        places = sample["id"].tolist()
        hypotheses = self.task.generate(self.generator, [self.model], sample, [parts[place].direction for place in places])
        translations = [""] * len(parts)
        for place, best_first in zip(places, hypotheses):
            tokens = [token for token in best_first[0]["tokens"].tolist() if token >= self.dictionary.nspecial]
            translations[place] = self.pipeline.decode([self.dictionary[token] for token in tokens], parts[place].direction.target)
        return translations


class Part(NamedTuple):
    """A line, or a part of one too long, to translate in a direction: the line's index, and token ids with EOS."""

    line: int
    direction: Direction
    tokens: torch.Tensor
