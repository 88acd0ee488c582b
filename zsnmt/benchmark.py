"""Paired timings: things that do the same job, in turn, in one process; and the memory that one takes."""

import json
import time
from argparse import Namespace
from itertools import accumulate
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Callable, Mapping

import torch
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY, BaseFairseqModel
from torch import Tensor, nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

import zsnmt.models  # noqa: F401
from zsnmt.languages import language_tag
from zsnmt.modules.relative_attention import OffsetTable
from zsnmt.modules.self_attention import SelfAttention

LANGUAGES = ("en", "it", "nl", "ro")


class BenchmarkTask:
    """As much of a task as a model reads: four languages and a dictionary of `vocabulary` symbols."""

    def __init__(self, vocabulary: int) -> None:
        dictionary = Dictionary()
        for language in LANGUAGES:
            dictionary.add_symbol(language_tag(language))
        for number in range(vocabulary - len(dictionary)):
            dictionary.add_symbol(f"w{number}")
        self.langs = list(LANGUAGES)
        self.source_dictionary = self.target_dictionary = dictionary


def build(architecture: str, task: BenchmarkTask, **options) -> BaseFairseqModel:
    """A model of an architecture with the given options, and everything else as the architecture says."""
    args = Namespace(max_source_positions=1024, max_target_positions=1024, **options)
    ARCH_CONFIG_REGISTRY[architecture](args)
    torch.manual_seed(1)
    return ARCH_MODEL_REGISTRY[architecture].build_model(args, task)


class PairwiseKeys(nn.Module):
    """Relative keys as the equations have them, by a vector for every pair of positions (Tensor2Tensor's form): the same
    logits as `RelativeKeys` has from its table."""

    def __init__(self, table: OffsetTable) -> None:
        super().__init__()
        self.table = table

    def forward(self, q: Tensor, k: Tensor, scale: float) -> Tensor:
        """q: B×H×Tq×d; k: B×H×Tk×d. Returns B×H×Tq×Tk."""
        vectors, index = self.table(q.size(2), k.size(2))
        return torch.einsum("bhid,ijd->bhij", q * scale, F.embedding(index, vectors))


class PairwiseValues(nn.Module):
    """Relative values likewise: the same result as `RelativeValues` has from its table."""

    def __init__(self, table: OffsetTable) -> None:
        super().__init__()
        self.table = table

    def forward(self, probabilities: Tensor) -> Tensor:
        """From probabilities (B×H×Tq×Tk) to B×H×Tq×d."""
        vectors, index = self.table(*probabilities.shape[2:])
        return torch.einsum("bhij,ijd->bhid", probabilities, F.embedding(index, vectors))


def use_pairwise_form(model: BaseFairseqModel) -> None:
    """Let the relative attention of a model gather a vector for every pair of positions, from the tables it has."""
    for attention in model.modules():
        if isinstance(attention, SelfAttention):
            keys, values = attention.logit_terms[0].table, attention.relative_values.table
            attention.logit_terms[0], attention.relative_values = PairwiseKeys(keys), PairwiseValues(values)


def training_step(model: BaseFairseqModel, sentences: int, length: int, vocabulary: int) -> Callable[[], None]:
    """A call that does one update on a fixed batch: label-smoothed loss, backward pass, Adam."""
    generator = torch.Generator().manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = model.to(device).train()
    tag = 4  # the first language's
    tokens = torch.randint(8, vocabulary, (2, sentences, length), generator=generator).to(device)
    source, target = tokens
    prefix = torch.cat([torch.full_like(target[:, :1], tag), target[:, :-1]], dim=1)
    lengths = torch.full((sentences,), length, device=device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

    def step() -> None:
        output = model(source, lengths, prefix)
        log_probabilities = model.get_normalized_probs(output, log_probs=True)
        loss, _ = label_smoothed_nll_loss(log_probabilities.flatten(0, 1), target.flatten(), 0.1, ignore_index=1)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if device.type == "cuda":
            torch.cuda.synchronize()

    return step


def paired_times(
    jobs: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Seconds of each job in each round, the jobs in turn, after one uncounted round."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for counted in [False, *[True] * rounds]:
        for name, job in jobs.items():
            start = clock()
            job()
            if counted:
                times[name].append(clock() - start)
    return times


def ratios(times: Mapping[str, list[float]], baseline: str) -> dict[str, tuple[float, float, float]]:
    """Median, smallest and largest of each job's time over the baseline's in the same round."""
    paired = {name: [a / b for a, b in zip(times[name], times[baseline])] for name in times}
    return {name: (median(values), min(values), max(values)) for name, values in paired.items()}


def peak_memory(job: Callable[[], object]) -> int:
    """Most bytes that tensors take at once while a job runs, beyond what they took before it.

    On a GPU by the count of PyTorch's allocator, elsewhere by the allocations that PyTorch's profiler records, so what
    a library takes for itself is not in it.
    """
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        job()
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        job()
    with TemporaryDirectory() as folder:
        trace = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    changes = sorted((event["ts"], event["args"]["Bytes"]) for event in events if event["name"] == "[memory]")
    return max(accumulate((size for _, size in changes), initial=0))
