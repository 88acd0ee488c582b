"""Engines of translation as they are measured, each with so many workers of so many threads on a CPU."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import torch
from fairseq.models import BaseFairseqModel
from fairseq.sequence_generator import SequenceGenerator

from zsnmt.benchmarks.subjects import Subject
from zsnmt.data.reading import Codec
from zsnmt.decoding.fairseq_engine import FairseqEngine
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.settings import Mask, Method
from zsnmt.decoding.options import CPU_PRECISIONS, CTRANSLATE2, FAIRSEQ, FLOAT32, PYTORCH
from zsnmt.decoding.pytorch_engine import PyTorchEngine, why_not_packed
from zsnmt.decoding.search import Engine, Hypothesis, Sentence
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.inference.export.ctranslate2.check import stock_model
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine, best_first
from zsnmt.inference.export.ctranslate2.writing import write_model
from zsnmt.inference.export.folder import EXPORT_FILE, checksums, codec_record
from zsnmt.inference.pytorch import ManyProcesses
from zsnmt.languages import LANGUAGES_FILE, Direction, language_tag
from zsnmt.runs.folder import PIPELINE_FOLDER

if TYPE_CHECKING:
    from ctranslate2 import TranslationResult

logger = logging.getLogger(__name__)

# CTranslate2 with a model of the same size, which has a residual connection everywhere and no language
# embedding
STOCK = "stock"


# How an engine translates, if not directly with the whole vocabulary.
MASK, PIVOT = "mask", "pivot"


@dataclass(frozen=True)
class Way:
    """An engine with so many workers of so many threads; `export`: the folder that it reads, where it
    reads one; `by`: a mask or the pivot, where it goes by one.
    """

    engine: str
    precision: str
    workers: int
    threads: int
    export: Path | None = None
    by: str = ""


class CutOff(CTranslate2Engine):
    """CTranslate2's search for as many tokens as fairseq writes, EOS counted, and no second one for what
    its limit cut off.
    """

    def limit(self, sentence: Sentence) -> int:
        return super().limit(sentence) + 1

    def hypotheses(self, sentence: Sentence, result: "TranslationResult") -> list[Hypothesis]:
        return best_first(self.read(result))


class Masked(Engine):
    """An engine with a method whose sentences are all into one language."""

    def __init__(self, engine: Engine, language: str) -> None:
        self.engine, self.language, self.signature = engine, language, engine.signature

    def translate(self, batches: Iterable[Sequence[Sentence]]) -> Iterator[list[list[Hypothesis]]]:
        return self.engine.translate(
            [Bundle(self.language, (sentence,)) for sentence in batch] for batch in batches
        )


class ThroughPivot(Engine):
    """An engine that translates a subject's sentences into the pivot, and what it found into their target."""

    def __init__(self, engine: Engine, subject: Subject) -> None:
        self.engine, self.codec, self.signature = engine, subject.codec, engine.signature
        self.firsts = {str(one): into for one, into in zip(subject.sentences, subject.into_pivot)}

    def translate(self, batches: Iterable[Sequence[Sentence]]) -> Iterator[list[list[Hypothesis]]]:
        batches = [*batches]
        size, sentences = len(batches[0]), [sentence for batch in batches for sentence in batch]
        onward = Direction(self.codec.pivot, self.codec.target(sentences[0]))
        firsts = self.engine.translate([self.firsts[str(each)] for each in batch] for batch in batches)
        lines = [self.codec.text(best.tokens, onward.source) for batch in firsts for best, *_ in batch]
        seconds = [*self.codec.sources(lines, onward)]
        order = sorted(range(len(seconds)), key=lambda place: -len(seconds[place].source))
        found = self.engine.translate(
            [seconds[place] for place in order[begin : begin + size]] for begin in range(0, len(order), size)
        )
        of_place = dict(zip(order, (hypotheses for batch in found for hypotheses in batch), strict=True))
        places = iter(range(len(sentences)))
        yield from ([of_place[next(places)] for _ in batch] for batch in batches)


def ways(subject: Subject, workers: int, one_process: bool, folder: Path) -> Iterator[Way]:
    """All ways, fairseq's of one process first; exports are written into `folder`. What the model does not
    allow is left out, and so are masks of a subject whose pieces are not counted.
    """
    yield from dict.fromkeys(
        [Way(FAIRSEQ, FLOAT32, 1, threads=workers), Way(FAIRSEQ, FLOAT32, workers, threads=1)]
    )
    masks = ["", MASK] if subject.counts else [""]
    if reason := why_not_packed(subject.model):
        logger.warning("the PyTorch engine is left out: %s", reason)
    else:
        for precision in CPU_PRECISIONS:
            for by in masks:
                yield Way(PYTORCH, precision, workers, threads=1, by=by)
            if one_process and workers > 1:
                yield Way(PYTORCH, precision, 1, threads=workers)
        if subject.into_pivot:
            yield Way(PYTORCH, FLOAT32, workers, threads=1, by=PIVOT)
    models = {CTRANSLATE2: subject.model}
    if subject.is_random:  # one of trained weights would write other lengths
        models[STOCK] = stock_model(subject.model)
    try:
        for name, model in models.items():
            for precision in CPU_PRECISIONS:
                place = folder / f"{name}-{precision}"
                export(model, subject.codec, precision, folder=place)
                for by in masks if name == CTRANSLATE2 else [""]:
                    yield Way(name, precision, workers, threads=1, export=place, by=by)
    except InputError as error:
        logger.warning("CTranslate2 is left out: %s", error)


def export(model: BaseFairseqModel, codec: Codec, quantization: str, folder: Path) -> None:
    """Write an export into a new folder, unchecked."""
    pipeline = folder / PIPELINE_FOLDER
    pipeline.mkdir(parents=True)
    write_model(folder, model, codec, quantization=quantization)
    codec.pipeline.save(pipeline)
    (pipeline / LANGUAGES_FILE).write_text(
        "".join(f"{language}\n" for language in codec.languages), encoding="utf-8"
    )
    symbols = codec.dictionary.symbols[codec.dictionary.nspecial :]
    (pipeline / f"dict.{codec.pivot}.txt").write_text(
        "".join(f"{symbol} 1\n" for symbol in symbols), encoding="utf-8"
    )
    record = codec_record(
        codec, CTRANSLATE2, quantization, max_target_positions=model.max_decoder_positions()
    ) | {
        "files": checksums(folder),
        "model": "measured here",
        "run": {"config": "none", "system": "none", "text": "none", "seed": 0},
    }
    write_json(folder / EXPORT_FILE, record)


def open_way(way: Way, subject: Subject) -> Engine:
    """The engine of a way."""
    engine = open_direct(way, subject)
    if way.by == MASK:
        method, language = Method(mask=Mask(renormalise=True)), subject.codec.target(subject.sentences[0])
        by_mask = engine.by(method, subject.codec, search=subject.search, counts=subject.counts)
        return Masked(by_mask, language)
    return ThroughPivot(engine, subject) if way.by == PIVOT else engine


def open_direct(way: Way, subject: Subject) -> Engine:
    """The engine of a way without a mask and a pivot; fairseq's is the stock search with weights that are not
    frozen.
    """
    model, codec, search = subject.model, subject.codec, subject.search
    if way.export is not None:
        return (CutOff if subject.is_random else CTranslate2Engine)(way.export, search, way.workers)
    if way.engine == FAIRSEQ:
        generator = SequenceGenerator(
            [model],
            codec.dictionary,
            beam_size=search.beam,
            max_len_a=search.max_len_a,
            max_len_b=search.max_len_b,
            tokens_to_suppress=tuple(map(language_tag, codec.languages)),
        )
        engine: FairseqEngine | PyTorchEngine = FairseqEngine(model, generator)
    else:
        engine = PyTorchEngine(
            model, codec.dictionary, codec.languages, search=search, precision=way.precision
        )
    return engine if way.workers == 1 else ManyProcesses(engine, way.workers)


def timed_translation(
    way: Way, subject: Subject, batch: int, *, clock: Callable[[], float] = perf_counter
) -> Callable[[], tuple[float, list[list[Hypothesis]]]]:
    """A call that translates all sentences, for its seconds and their hypotheses; the first batches are
    translated beforehand.
    """
    torch.set_num_threads(way.threads)
    engine, sentences = open_way(way, subject), subject.sentences
    batches = [sentences[start : start + batch] for start in range(0, len(sentences), batch)]

    def translate() -> tuple[float, list[list[Hypothesis]]]:
        start = clock()
        found = [of_sentence for of_batch in engine.translate(batches) for of_sentence in of_batch]
        return clock() - start, found

    for _ in engine.translate(batches[: way.workers]):
        pass
    return translate
