"""Engines of translation against fairseq's, in turn, each in processes of its own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import torch

from zsnmt.benchmarks.engines import MASK, PIVOT, STOCK, Way, timed_translation, ways
from zsnmt.benchmarks.helper import Helper
from zsnmt.benchmarks.paired import ratios, warn_if_busy
from zsnmt.benchmarks.sizes import SHARE
from zsnmt.benchmarks.subjects import Subject, into_one_language, random_subject, trained_subject
from zsnmt.decoding.options import CTRANSLATE2, FAIRSEQ, FLOAT32, INT8, PYTORCH
from zsnmt.decoding.search import Hypothesis
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.processes import progress, used_seconds
from zsnmt.report.table import MISSING

NAMES = {
    FAIRSEQ: "fairseq-generate",
    PYTORCH: "PyTorch",
    CTRANSLATE2: "CTranslate2",
    STOCK: "CTranslate2, stock model",
}
BY = {"": "", MASK: ", the target language's pieces", PIVOT: ", through the pivot"}


@dataclass
class Timed:
    """What was found of a way: output tokens, EOS among them, and seconds of each round, and the
    hypotheses of the first.
    """

    way: Way
    tokens: int = 0
    seconds: list[float] = field(default_factory=list)
    hypotheses: list[list[Hypothesis]] = field(default_factory=list)

    def add(self, seconds: float, hypotheses: list[list[Hypothesis]]) -> None:
        """Add a round."""
        self.seconds.append(seconds)
        if not self.hypotheses:
            self.hypotheses = hypotheses
            self.tokens = sum(len(best.tokens) for best, *_ in hypotheses)

    @property
    def title(self) -> str:
        """The engine, its precision, its processes and their threads."""
        way = self.way
        return f"{NAMES[way.engine]}{BY[way.by]} | {way.precision} | {way.workers} × {way.threads}"

    @property
    def speeds(self) -> list[float]:
        """Output tokens a second of each round."""
        return [self.tokens / seconds for seconds in self.seconds]

    def best(self) -> list[list[int]]:
        """The best translation of each sentence."""
        return [best.tokens for best, *_ in self.hypotheses]

    def lists(self) -> list[list[list[int]]]:
        """All translations of each sentence."""
        return [[hypothesis.tokens for hypothesis in of_sentence] for of_sentence in self.hypotheses]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is translated: `lines` lines of `text` by a run, or random ones by random weights of a size.

    With a `mask`, also among the pieces of the target language alone, which of random weights are this
    `share` of the words (0–1, `SHARE` unless given). With `pivot`, a run also translates through its pivot.
    """

    run: Path | None
    source: str | None
    to: str | None
    text: Path | None
    reference: Path | None
    size: str | None
    lines: int
    beam: int
    mask: bool = False
    share: float | None = None
    pivot: bool = False

    def subject(self) -> Subject:
        """The model and the sentences; `InputError` for options that do not go together, and without a
        sentence.
        """
        if self.share is not None and (self.run is not None or not self.mask):
            raise InputError("--share is of random weights and --mask; leave out the run, and give --mask")
        subject = self.of_random_weights() if self.run is None else self.of_run(self.run)
        if not subject.sentences:
            raise InputError(
                "there is nothing to translate; give --lines 1 or more, and a text that is not empty"
            )
        return subject if self.pivot else replace(subject, into_pivot=())

    def of_random_weights(self) -> Subject:
        if self.source or self.to or self.text or self.reference or self.pivot:
            raise InputError(
                "--from, --to, --text, --reference and --pivot belong to a run; name its folder, or leave "
                "them out"
            )
        subject = random_subject(self.size or "paper", self.beam, self.lines)
        share = SHARE if self.share is None else self.share
        return into_one_language(subject, share) if self.mask else subject

    def of_run(self, run: Path) -> Subject:
        if self.size or not (self.source and self.to and self.text):
            raise InputError("a run is measured with --from, --to and --text, and without --size")
        return trained_subject(
            run,
            source=self.source,
            target=self.to,
            text=self.text,
            reference=self.reference,
            number=self.lines,
            beam=self.beam,
            masked=self.mask,
        )


def translation(
    *,
    batch: int,
    rounds: int,
    workers: int,
    single_process: bool,
    output: Path | None,
    cpu_seconds: bool = False,
    **task: Any,
) -> Iterator[str]:
    """A table of all ways to do a `Task`, whose fields are the other arguments, in turn."""
    warn_if_busy()
    torch.set_num_threads(1)  # here, where others begin
    subject = Task(**task).subject()
    clock = used_seconds if cpu_seconds else perf_counter
    found = measure_ways(subject, batch, rounds, workers=workers, single_process=single_process, clock=clock)
    if any(seconds == 0 for each in found for seconds in each.seconds):
        raise InputError("that was done before the processor's clock had moved; give more --lines")
    figures = [figures_of(each, found[0], subject) for each in found]
    about = (
        f"{subject.about}: {len(subject.sentences)} sentences, beam {task['beam']}, batches of {batch}, "
        f"{rounds} rounds"
    )
    yield f"\n{about}:\n"
    yield from table(found, figures)
    if output is not None:
        write_json(output, {"about": about, "ways": figures})


def measure_ways(
    subject: Subject, batch: int, rounds: int, workers: int, single_process: bool, clock: Callable[[], float]
) -> list[Timed]:
    """All ways in turn in each round, start-up and loading apart."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        found = [Timed(way) for way in ways(subject, workers, single_process, folder=Path(folder))]
        prepare = partial(timed_translation, clock=clock)
        jobs = [stack.enter_context(Helper(prepare, each.way, subject, batch)) for each in found]
        for _ in progress(range(rounds), "rounds"):
            for each, job in zip(found, jobs):
                each.add(*job())
    return found


def figures_of(timed: Timed, baseline: Timed, subject: Subject) -> dict:
    """The figures of a way: shares (0–1) of best translations and whole lists that are fairseq's, and BLEU
    (0–100).

    With random weights, shares are of whole searches in float32 alone: int8 is another model, and what is cut
    off has no EOS.
    """
    way = timed.way
    comparable = not subject.is_random or (way.precision == FLOAT32 and way.export is None and not way.by)
    return {
        "engine": way.engine,
        "by": way.by or None,
        "precision": way.precision,
        "workers": way.workers,
        "threads": way.threads,
        "tokens": timed.tokens,
        "seconds": timed.seconds,
        "bleu": subject.bleu(timed.hypotheses) if subject.bleu else None,
        "best_equal": equal(timed.best(), baseline.best()) if comparable else None,
        "lists_equal": equal(timed.lists(), baseline.lists())
        if comparable and way.precision == FLOAT32
        else None,
    }


def equal(ours: Sequence, theirs: Sequence) -> float:
    """The share (0–1) of items that are equal."""
    return sum(one == other for one, other in zip(ours, theirs, strict=True)) / len(theirs)


def table(found: Sequence[Timed], figures: Sequence[dict]) -> Iterator[str]:
    """The lines of the table, and of how exports compare with those of a stock model."""
    speeds = {each.title: each.speeds for each in found}
    yield (
        "| engine | precision | processes × threads | output tokens/s (median) | ratio to fairseq-generate: "
        "median (range) | BLEU | best as fairseq's | all as fairseq's |"
    )
    yield "|---|---|---|---:|---:|---:|---:|---:|"
    against_fairseq = ratios(speeds, found[0].title)
    for each, of_way in zip(found, figures):
        shares = [format_figure(of_way[name], "{:.1%}") for name in ("best_equal", "lists_equal")]
        others = " | ".join([format_figure(of_way["bleu"], "{:.2f}"), *shares])
        yield (
            f"| {each.title} | {median(each.speeds):,.0f} | {spread(against_fairseq[each.title])} | "
            f"{others} |"
        )
    stock = {each.way.precision: each.title for each in found if each.way.engine == STOCK}
    for each in found:
        if each.way.engine == CTRANSLATE2 and not each.way.by and each.way.precision in stock:
            ratio = ratios(speeds, stock[each.way.precision])[each.title]
            yield f"\nCTranslate2 {each.way.precision} against that of the stock model: {spread(ratio, 3)}"
    yield from against_int8(found, speeds)


def against_int8(found: Sequence[Timed], speeds: Mapping[str, list[float]]) -> Iterator[str]:
    """How each way compares with CTranslate2's int8 over the whole vocabulary."""
    direct = (CTRANSLATE2, INT8, "")
    int8 = [each.title for each in found if (each.way.engine, each.way.precision, each.way.by) == direct]
    if int8:
        shown = ratios(speeds, int8[0])
        yield "\n| engine | precision | processes × threads | ratio to CTranslate2 int8: median (range) |"
        yield "|---|---|---|---:|"
        yield from (f"| {title} | {spread(shown[title])} |" for title in speeds)


def spread(ratio: tuple[float, float, float], digits: int = 2) -> str:
    """A ratio as text."""
    middle, low, high = (f"{value:.{digits}f}" for value in ratio)
    return f"{middle} ({low}–{high})"


def format_figure(value: float | None, form: str) -> str:
    """A figure as text, a dash where there is none."""
    return MISSING if value is None else form.format(value)
