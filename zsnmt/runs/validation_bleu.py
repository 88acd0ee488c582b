"""BLEU of validation: the first lines of every direction, translated when all batches have been seen.

A step of a search costs about as much for five short sentences as for a hundred. A search for each batch of
validation, of one direction and often of few of the first lines, takes several times as long as one for all.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, TypeVar

import torch
from fairseq.data.data_utils import batch_by_size
from fairseq.distributed import utils as distributed
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask

from zsnmt.data.reading import Codec
from zsnmt.decoding.fairseq_engine import FairseqEngine, fairseq_options
from zsnmt.decoding.likeness import why_not_alike
from zsnmt.decoding.options import BATCH_TOKENS
from zsnmt.decoding.pytorch_engine import PyTorchEngine
from zsnmt.decoding.search import BatchEngine, Search, Sentence
from zsnmt.languages import parse_direction
from zsnmt.runs.validation import BleuCounts

SEARCH = Search(beam=1, max_len_b=10)
BATCH_SENTENCES = 256
T = TypeVar("T")


class Line(NamedTuple):
    """A line of a direction's validation text: what is read, and the reference's token ids."""

    direction: str
    number: int
    sentence: Sentence
    reference: list[int]


class ValidationBleu:
    """Keeps what is to be translated of a validation's batches: of each direction the first `lines`."""

    def __init__(self, codec: Codec, lines: int) -> None:
        self.codec, self.lines = codec, lines
        self.kept: list[Line] = []

    def keep(self, batch: Mapping) -> None:
        """Keep those of a batch's sentences, of one direction, that are to be translated."""
        direction, pad = batch["direction"], self.codec.dictionary.pad()
        start = self.codec.placement.decoder_start(parse_direction(direction))
        rows = (batch["id"], batch["net_input"]["src_tokens"], batch["target"])
        for number, source, reference in zip(*(of_batch.tolist() for of_batch in rows)):
            if number < self.lines:
                read = [token for token in source if token != pad]
                self.kept.append(Line(direction, number, Sentence(read, start), reference=reference))

    def scores(self, model: BaseFairseqModel, task: FairseqTask) -> dict[str, float]:
        """The BLEU (0–100) of each direction, translated greedily; what was kept is forgotten.

        Processes that train together share the work, and all have all scores.
        """
        lines = in_order(gather(self.kept))
        self.kept = []
        rank, processes = place_in_team()
        counted = gather(self.count(lines[rank::processes], engine_of(model, task, self.codec)))
        sums: dict[str, torch.Tensor] = {}
        for direction, counts in counted:
            sums[direction] = sums.get(direction, 0) + torch.tensor(counts, dtype=torch.double)
        return {direction: BleuCounts.bleu(counts.tolist()) for direction, counts in sums.items()}

    def count(self, lines: Sequence[Line], engine: BatchEngine) -> list[tuple[str, list[float]]]:
        """What BLEU needs of each direction of some lines, which are in order."""
        outputs = translate([line.sentence for line in lines], engine)
        found = []
        for direction, places in groupby(range(len(lines)), lambda place: lines[place].direction):
            target, of_direction = parse_direction(direction).target, [*places]
            sides = (
                [outputs[place] for place in of_direction],
                [lines[place].reference for place in of_direction],
            )
            texts = ([self.codec.text(tokens, target) for tokens in side] for side in sides)
            found.append((direction, BleuCounts().count(*texts)))
        return found


def translate(sentences: Sequence[Sentence], engine: BatchEngine) -> list[list[int]]:
    """The token ids of the best translation of each sentence, from batches of like length."""
    sizes = [len(sentence.source) for sentence in sentences]
    batches = batch_by_size(
        sorted(range(len(sizes)), key=sizes.__getitem__),
        sizes.__getitem__,
        max_tokens=BATCH_TOKENS,
        max_sentences=BATCH_SENTENCES,
    )
    found: dict[int, list[int]] = {}
    for places in batches:
        hypotheses = engine.translate_batch([sentences[place] for place in places])
        found |= {place: best.tokens for place, (best, *_) in zip(places, hypotheses)}
    return [found[place] for place in range(len(sizes))]


def in_order(lines: Sequence[Line]) -> list[Line]:
    """The lines by direction and number, each once: a process that has no batch left is given one of others,
    which is not to count.
    """
    each = {(line.direction, line.number): line for line in lines}
    return sorted(each.values(), key=attrgetter("direction", "number"))


def place_in_team() -> tuple[int, int]:
    """Which of how many processes that train together this one is."""
    size = distributed.get_world_size(group := distributed.get_data_parallel_group())
    return (distributed.get_rank(group), size) if size > 1 else (0, 1)


def gather(items: list[T]) -> list[T]:
    """The items of all processes that train together."""
    _, size = place_in_team()
    if size == 1:
        return items
    of_all: list[list[T]] = [[]] * size
    torch.distributed.all_gather_object(of_all, items, group=distributed.get_data_parallel_group())
    return [item for of_one in of_all for item in of_one]


def engine_of(model: BaseFairseqModel, task: FairseqTask, codec: Codec) -> BatchEngine:
    """The engine of a model in training: fairseq's search if it cannot be packed, or is in half precision."""
    sides = codec.dictionary, codec.languages
    in_float32 = next(model.parameters()).dtype == torch.float32
    if in_float32 and why_not_alike(model, *sides, sources=codec.samples()) is None:
        return PyTorchEngine(model, *sides, search=SEARCH)
    return FairseqEngine(model, task.build_generator([model], fairseq_options(SEARCH)))
