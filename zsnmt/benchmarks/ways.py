"""Ways to do the same work on text."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from zsnmt.benchmarks.paired import paired_times, ratio_rows, ratios
from zsnmt.decoding.fairseq_engine import FairseqEngine, fairseq_options
from zsnmt.decoding.options import FAIRSEQ, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.inference.pytorch import pytorch_engine
from zsnmt.inference.trained_run import load_run
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction
from zsnmt.processes import map_in_processes
from zsnmt.text.lines import read_lines
from zsnmt.text.tokenisation import load_tokeniser


def pivot(run: Path, source: str, to: str, text: Path, lines: int, rounds: int) -> Iterator[str]:
    """Translation, direct against through the pivot."""
    translator, sentences = Translator.open(run), read_lines(text)[:lines]
    through = f"through {translator.pivot}"
    jobs = {
        through: lambda: translator.translate(sentences, to, source, via=translator.pivot),
        "direct": lambda: translator.translate(sentences, to, source),
    }
    times = paired_times(jobs, rounds)
    yield f"\n{source} to {to}, {len(sentences)} sentences, {rounds} rounds:\n"
    yield from ratio_rows(times, through, "the pivot")


def directions(run: Path, source: str, text: Path, lines: int, rounds: int) -> Iterator[str]:
    """Translation of one language into all others by fairseq's search, each sentence encoded once or for
    each language.
    """
    trained, search = load_run(run), Search()
    generator = trained.task.build_generator([trained.model], fairseq_options(search))
    each_time = Translator(FairseqEngine(trained.model, generator), trained.codec)
    once = Translator(pytorch_engine(trained, search, EngineChoice(FAIRSEQ, workers=1)), trained.codec)
    sentences = read_lines(text)[:lines]
    targets = [Direction(source, language) for language in once.languages if language != source]
    first = "one direction after another"
    jobs = {
        first: lambda: [once.translate_into(sentences, [direction]) for direction in targets],
        "all at once, encoded for each": lambda: each_time.translate_into(sentences, targets),
        "all at once, encoded once": lambda: once.translate_into(sentences, targets),
    }
    times = paired_times(jobs, rounds)
    yield f"\n{source} to {len(targets)} languages, {len(sentences)} sentences, {rounds} rounds:\n"
    yield from ratio_rows(times, first, "the first")


def tokenisation(
    text: Path, language: str, kind: str, lines: int, workers: Sequence[int], rounds: int
) -> Iterator[str]:
    """Tokenisation by several processes against a plain loop."""
    tokenise, sentences = load_tokeniser(kind, language).tokenise, read_lines(text)[:lines]
    loop = "a plain loop"

    def in_processes(number: int) -> list[str]:
        return list(map_in_processes(tokenise, sentences, number))

    jobs: dict[str, Callable[[], list[str]]] = {loop: lambda: [tokenise(sentence) for sentence in sentences]}
    jobs |= {f"{number} processes": partial(in_processes, number) for number in workers}
    times = paired_times(jobs, rounds)
    yield f"\n`{kind}` of {language}, {len(sentences)} sentences, {rounds} rounds:\n"
    yield "| way | sentences a second (median) | time, as a ratio to the loop's: median (range) |"
    yield "|---|---:|---:|"
    for title, (middle, low, high) in ratios(times, loop).items():
        yield (
            f"| {title} | {len(sentences) / median(times[title]):,.0f} | {middle:.2f} "
            f"({low:.2f}–{high:.2f}) |"
        )
