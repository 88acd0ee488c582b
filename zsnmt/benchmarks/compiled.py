"""Encoder layers compiled by PyTorch, against those of --fast-training and the stock ones."""

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

import torch
from torch import Tensor, nn

from zsnmt.benchmarks.models import BenchmarkTask, build
from zsnmt.benchmarks.paired import paired_times, ratio_rows
from zsnmt.benchmarks.sizes import SIZES, stock_options
from zsnmt.processes import used_seconds

STOCK, FAST, COMPILED = "stock", "--fast-training", "stock, compiled"


def compiled(size: str, sentences: int, length: int, dropout: float, rounds: int) -> Iterator[str]:
    """Forward and backward pass of all encoder layers in bfloat16, on one batch without padding, by one
    thread, in processor's seconds.
    """
    torch.set_num_threads(1)
    task = BenchmarkTask(SIZES[size]["vocabulary"])
    options = stock_options(SIZES[size], dropout)
    stock, fast = (build("zs_transformer", task, **options, **more) for more in ({}, {"fast_training": True}))
    x = torch.randn(length, sentences, SIZES[size]["width"], generator=torch.Generator().manual_seed(1))
    layers = {
        STOCK: [*stock.train().encoder.layers],
        FAST: [*fast.train().encoder.layers],
        COMPILED: [torch.compile(layer, dynamic=False) for layer in stock.encoder.layers],
    }
    jobs: dict[str, Callable[[], object]] = {name: partial(both_passes, of, x) for name, of in layers.items()}
    began = perf_counter()
    jobs[COMPILED]()
    waited = perf_counter() - began
    times = paired_times(jobs, rounds, used_seconds)
    yield (
        f"\nEncoder layers, {size} size ({SIZES[size]}), {sentences} × {length} tokens, dropout {dropout}, "
        f"{rounds} rounds; the first pass of the compiled ones took {waited:.0f} seconds:\n"
    )
    yield from ratio_rows(times, STOCK, "the stock layers")


def both_passes(layers: list[nn.Module], x: Tensor) -> None:
    """Layers one after another, and the gradients of their result's sum of squares."""
    with torch.autocast("cpu", torch.bfloat16):
        result = x
        for layer in layers:
            result = layer(result, None)
    result.float().square().sum().backward()
