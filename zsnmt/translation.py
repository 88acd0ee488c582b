"""Raw text in, raw text out: a trained run translates between all its languages."""

import logging
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

import torch
from fairseq import checkpoint_utils, utils

import zsnmt.models  # noqa: F401  (registers)
import zsnmt.tasks  # noqa: F401
from zsnmt.averaging import readable
from zsnmt.binarised import encode
from zsnmt.errors import InputError
from zsnmt.languages import Direction, check_known, parse_direction, source_tags
from zsnmt.text.pipeline import TextPipeline

logger = logging.getLogger(__name__)

MODEL_FILE = "model.pt"
PIPELINE_FOLDER = "pipeline"


class Translator:
    """A run folder's model with its text pipeline; nothing outside the folder is read.

    A translation does not depend on its batch, but for outputs that would not end: fairseq cuts them
    at 1.2 times the longest source of the batch + 50 tokens. `beam` and `length_penalty` (score =
    log-probability / length^penalty) default to the paper's; a batch holds about `batch_tokens` source
    tokens. The first language of a run is its pivot.
    """

    def __init__(
        self, run: Path, beam: int = 4, length_penalty: float = 1.0, batch_tokens: int = 4000, checkpoint: str = MODEL_FILE
    ) -> None:
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
        self.trained = [parse_direction(pair) for pair in self.task.lang_pairs]
        self.batch_tokens = batch_tokens
        search = Namespace(beam=beam, lenpen=length_penalty, max_len_a=1.2, max_len_b=50)
        self.generator = self.task.build_generator([self.model], search)

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
            lines = self.translate_leg(lines, direction, first_line, lambda number: finished(number / len(legs)))
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

    def translate_leg(
        self, lines: Sequence[str], direction: Direction, first_line: int, finished: Callable[[float], object]
    ) -> list[str]:
        """Translate raw lines in one direction; see `translate`."""
        translations = [""] * len(lines)
        parts = [
            (index, part)
            for index, line in enumerate(lines)
            for part in self.parts(first_line + index, line, direction)
        ]
        pieces_of = Counter(index for index, _ in parts)
        finished(len(lines) - len(pieces_of))  # the empty ones
        translated: dict[int, str] = {}
        for batch in self.batches([part for _, part in parts]):
            translated.update(zip(batch, self.translate_batch([parts[i][1] for i in batch], direction)))
            finished(sum(1 / pieces_of[parts[i][0]] for i in batch))
        for number, (index, _) in enumerate(parts):
            translations[index] = f"{translations[index]} {translated[number]}".strip()
        return translations

    def parts(self, number: int, line: str, direction: Direction) -> Iterator[torch.Tensor]:
        """Ids of a line's pieces, each part with EOS: none for an empty line, several for one too long."""
        pieces = self.pipeline.encode(line, direction.source)
        longest = self.task.max_positions()[0] - 1 - len(source_tags(self.task.placement.name, direction))
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

    def batches(self, sources: Sequence[torch.Tensor]) -> Iterator[list[int]]:
        """Indices of the sources in batches of like length, the longest first."""
        batch: list[int] = []
        for index in sorted(range(len(sources)), key=lambda i: -len(sources[i])):
            if batch and len(sources[batch[0]]) * (len(batch) + 1) > self.batch_tokens:
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch

    def translate_batch(self, sources: Sequence[torch.Tensor], direction: Direction) -> list[str]:
        """The best translation of each source (ids with EOS), as raw text."""
        data = self.task.inference_dataset(list(sources), [len(source) for source in sources], direction)
        sample = data.collater([data[index] for index in range(len(data))])
        if self.device.type == "cuda":
            sample = utils.move_to_cuda(sample)
        hypotheses = self.task.generate(self.generator, [self.model], sample, direction)
        translations = [""] * len(sources)
        for index, best_first in zip(sample["id"].tolist(), hypotheses):
            tokens = [token for token in best_first[0]["tokens"].tolist() if token >= self.dictionary.nspecial]
            translations[index] = self.pipeline.decode([self.dictionary[token] for token in tokens], direction.target)
        return translations
