"""What states, similarity and classifiers take of time and memory, with a random model and text."""

import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from zsnmt.analysis.classifiers import fit_as_published
from zsnmt.analysis.layer_figures import layer_figures
from zsnmt.analysis.similarities import similarities
from zsnmt.analysis.state_folder import FINAL, read_states
from zsnmt.benchmarks.models import LANGUAGES, BenchmarkTask, build
from zsnmt.benchmarks.sizes import SIZES, stock_options
from zsnmt.data.reading import encode
from zsnmt.inference.probed_model import ProbedModel
from zsnmt.inference.states import write_states


def probes(size: str, sentences: int, length: int) -> Iterator[str]:
    """CPU seconds and memory of each stage, for so many sentences of each language, of `length` tokens on
    average.
    """
    dimensions, generator = SIZES[size], np.random.default_rng(1)
    task = BenchmarkTask(dimensions["vocabulary"])
    encoder = build("zs_transformer", task, **stock_options(dimensions)).encoder.eval()
    layers = [*map(str, range(dimensions["encoder_layers"] + 1)), FINAL]
    record = {"model": "random weights", "layers": layers, "dimension": dimensions["width"]}
    dictionary = task.source_dictionary
    model = ProbedModel(
        encoder,
        dictionary,
        [*LANGUAGES],
        sources=lambda lines, _: (encode(line.split(), dictionary) for line in lines),
        tags=0,
        record=record,
    )
    words = dictionary.symbols[4 + len(LANGUAGES) :]  # all but fairseq's own and the tags
    lengths = generator.integers(length // 2, 3 * length // 2 + 1, (len(LANGUAGES), sentences))
    text = {
        language: [" ".join(generator.choice(words, n)) for n in of_language]
        for language, of_language in zip(LANGUAGES, lengths)
    }
    yield (
        f"\n{size} size ({dimensions}), random weights and words: {len(LANGUAGES)} languages × {sentences} "
        "sentences, "
        f"{lengths.sum()} tokens, {len(layers)} layers:\n"
    )
    yield "| stage | CPU seconds | peak memory so far, MB |"
    yield "|---|---:|---:|"
    yield measure_job("nothing but the model", lambda: None)
    with TemporaryDirectory() as folder:
        yield measure_job("states of all layers", lambda: write_states(Path(folder, "states"), model, text))
        states = read_states(Path(folder, "states"))
        yield measure_job("similarity, all layers and pairs", lambda: [*similarities(states, generator)])
        yield measure_job("figures, all layers", lambda: [*layer_figures(states)])
        batch = len(states.labels.token) // 800
        for label, updates in (("language", 800), ("position", 800), ("token", 200)):
            numbers, rows = (
                getattr(states.labels, label),
                generator.permutation(len(states.labels.token))[: updates * batch],
            )
            yield measure_job(
                f"classifier of {label}, one layer, {updates} updates of {batch} rows, "
                f"{len(np.unique(numbers[rows]))} classes",
                lambda: fit_as_published(
                    states.layers[FINAL], numbers, rows, epochs=1, batch_size=batch, warm_up=updates
                ),
            )


def measure_job(title: str, job: Callable[[], object]) -> str:
    """Do a job: a row with what it took; the memory of mapped files counts."""
    start = process_time()
    job()
    return (
        f"| {title} | {process_time() - start:.1f} | "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} |"
    )
