"""Training steps of architectures and options of translation models."""

from collections.abc import Iterator, Sequence
from statistics import median
from time import perf_counter, process_time
from typing import Any

from zsnmt.benchmarks.models import LONGEST, BenchmarkTask, build, parameters
from zsnmt.benchmarks.paired import paired_times, peak_memory, ratios
from zsnmt.benchmarks.sizes import SIZES, stock_options
from zsnmt.benchmarks.training_steps import training_step, use_pairwise_form
from zsnmt.errors import InputError
from zsnmt.modules.position_names import ENCODINGS

VARIANTS = {
    "zs_transformer": ("zs_transformer", {}),
    "zs_transformer_residual": ("zs_transformer_residual", {}),
    "zs_transformer_residual_query": ("zs_transformer_residual_query", {}),
    "zs_transformer_residual, variational dropout": (
        "zs_transformer_residual",
        dict(variational_dropout=True),
    ),
}
STOCK = "fairseq transformer"
PAIRWISE = "the same by T×T×d vectors"


def training(sizes: Sequence[str], sentences: int, length: int, rounds: int) -> Iterator[str]:
    """A table for each size: the time of a training step of each architecture, against fairseq's
    transformer.
    """
    for name in sizes:
        size = SIZES[name]
        task = BenchmarkTask(size["vocabulary"])
        stock = dict(encoder_normalize_before=True, decoder_normalize_before=True)
        models = {STOCK: build("transformer", task, **stock_options(size), **stock)}
        for title, (architecture, variant) in VARIANTS.items():
            models[title] = build(architecture, task, **stock_options(size), **variant)
        jobs = {
            title: training_step(model, sentences, length, vocabulary=size["vocabulary"])
            for title, model in models.items()
        }
        times = paired_times(jobs, rounds)
        yield f"\nTraining step, {name} size ({size}), {sentences} × {length} tokens, {rounds} rounds:\n"
        yield (
            "| architecture | parameters | seconds per step (median) | ratio to fairseq's transformer: "
            "median (range) |"
        )
        yield "|---|---:|---:|---:|"
        for title, (middle, low, high) in ratios(times, STOCK).items():
            count = parameters(models[title]) / 1e6
            yield (
                f"| {title} | {count:.2f} M | {median(times[title]):.3f} | {middle:.3f} "
                f"({low:.3f}–{high:.3f}) |"
            )


def relative(distance: int, **how: Any) -> Iterator[str]:
    """Relative attention of a clip distance against plain attention, and in the form of a vector for every
    pair.
    """
    nowhere = dict(encoder_position_encoding="none", decoder_position_encoding="none")
    shaw = dict(**nowhere, relative_attention_distance=str(distance))
    return step_tables({"plain": nowhere, f"relative, k = {distance}": shaw, PAIRWISE: shaw}, **how)


def encodings(lengths: Sequence[int], **how: Any) -> Iterator[str]:
    """Each encoding of the encoder's positions; `InputError` for more of them than the models have."""
    if max(lengths) > LONGEST:
        raise InputError(f"--lengths {max(lengths)} has no learned positions; give {LONGEST} or less")
    variants = {encoding: dict(encoder_position_encoding=encoding) for encoding in ENCODINGS}
    return step_tables(variants, lengths=lengths, **how)


def step_tables(
    variants: dict[str, dict],
    size: str,
    lengths: Sequence[int],
    tokens: int,
    dropout: Sequence[float],
    rounds: int,
    cpu_seconds: bool,
) -> Iterator[str]:
    """A table for each rate of dropout: time and memory of a training step of variants of
    `zs_transformer`, against the first.
    """
    if tokens < max(lengths):
        raise InputError(f"--tokens {tokens} has no room for a sentence of {max(lengths)}; give more")
    dimensions, baseline = SIZES[size], next(iter(variants))
    seconds, clock = ("CPU seconds", process_time) if cpu_seconds else ("seconds", perf_counter)
    task = BenchmarkTask(dimensions["vocabulary"])
    for rate in dropout:
        yield (
            f"\nTraining step, {size} size ({dimensions}), {tokens} tokens, dropout {rate}, {rounds} rounds; "
            "memory is that of tensors at the peak, beyond weights and Adam's moments:\n"
        )
        yield (
            f"| length | | {seconds} per step (median) | ratio to {baseline}: median (range) | memory, MB | "
            f"ratio to {baseline} |"
        )
        yield "|---:|---|---:|---:|---:|---:|"
        for length in lengths:
            jobs = {}
            for title, variant in variants.items():
                model = build("zs_transformer", task, **stock_options(dimensions, rate), **variant)
                if title == PAIRWISE:
                    use_pairwise_form(model)
                jobs[title] = training_step(
                    model, tokens // length, length, vocabulary=dimensions["vocabulary"]
                )
            times = paired_times(jobs, rounds, clock)
            memory = {title: peak_memory(job) for title, job in jobs.items()}
            for title, (middle, low, high) in ratios(times, baseline).items():
                yield (
                    f"| {length} | {title} | {median(times[title]):.2f} | {middle:.3f} "
                    f"({low:.3f}–{high:.3f}) | {memory[title] / 1e6:,.0f} | "
                    f"{memory[title] / memory[baseline]:.2f} |"
                )
