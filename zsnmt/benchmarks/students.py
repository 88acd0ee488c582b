"""A student's direct translation, beam and greedy, against its teacher's translation through the pivot."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from zsnmt.benchmarks.paired import paired_times, ratios
from zsnmt.benchmarks.subjects import read_text
from zsnmt.decoding.methods.settings import Mask, Method
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.inference.translator import Translator
from zsnmt.processes import used_seconds
from zsnmt.runs.folder import piece_counts
from zsnmt.scoring.metrics import Metrics

Job = Callable[[], list[str]]
PIECES = Method(mask=Mask(renormalise=True))  # those of the target language, and no other


def student(
    teacher: Path,
    run: Path,
    source: str,
    to: str,
    *,
    text: Path,
    reference: Path,
    lines: int,
    rounds: int,
    engine: str,
    precision: str | None,
    workers: int | None,
    cpu_seconds: bool,
) -> Iterator[str]:
    """A table of the teacher through its pivot, and of the student in four ways."""
    sentences, references = read_text(text, reference, lines)
    choice = EngineChoice(engine=engine, precision=precision, workers=workers)
    through = Translator.open(teacher, Search(), choice, prepare=True)
    base = f"teacher, through {through.pivot}, beam {Search.beam}"
    jobs: dict[str, Job] = {
        base: partial(through.translate, sentences, to, source, via=through.pivot),
        **dict(student_jobs(run, choice, sentences, target=to, source=source)),
    }
    bleu = Metrics().against(tuple(references))["bleu"]
    scores = {name: bleu.corpus_score(job(), None).score for name, job in jobs.items()}
    times = paired_times(jobs, rounds, clock=used_seconds if cpu_seconds else perf_counter)
    speeds = {name: [1 / seconds for seconds in of_way] for name, of_way in times.items()}
    computed = through.signature or "pytorch float32"
    yield f"\n{source} to {to}, {len(sentences)} sentences, {rounds} rounds, {computed}:\n"
    yield "| way | seconds (median) | times as fast as the teacher: median (range) | BLEU | minus teacher |"
    yield "|---|---:|---:|---:|---:|"
    for name, (middle, low, high) in ratios(speeds, base).items():
        speed = f"{median(times[name]):.2f} | {middle:.1f} ({low:.1f}–{high:.1f})"
        yield f"| {name} | {speed} | {scores[name]:.2f} | {scores[name] - scores[base]:+.2f} |"


def student_jobs(
    run: Path, choice: EngineChoice, sentences: list[str], *, target: str, source: str
) -> Iterator[tuple[str, Job]]:
    """Direct translation with the usual beam and greedily, among all pieces and among the target language's
    alone.
    """
    counts = piece_counts(run)
    for beam in (Search.beam, 1):
        direct = Translator.open(run, Search(beam=beam), choice, prepare=True)
        for of_pieces, translator in (
            ("", direct),
            (", the target language's pieces", direct.by(PIECES, counts)),
        ):
            yield (
                f"student, directly, beam {beam}{of_pieces}",
                partial(translator.translate, sentences, target, source),
            )
