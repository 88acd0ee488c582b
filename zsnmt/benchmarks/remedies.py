"""Training steps with each term of the loss, with all logits at once and in chunks."""

from argparse import Namespace
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter, process_time
from types import SimpleNamespace

import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.utils import move_to_cuda
from torch import Tensor

from zsnmt.benchmarks.models import LANGUAGES, LONGEST, BenchmarkTask, build
from zsnmt.benchmarks.paired import paired_times, peak_memory, ratios
from zsnmt.benchmarks.sizes import SIZES, stock_options
from zsnmt.benchmarks.training_steps import update
from zsnmt.criterions.chunked_label_smoothed_cross_entropy import ChunkedLabelSmoothedCrossEntropy
from zsnmt.criterions.zs_cross_entropy import TERMS, ZeroShotCrossEntropy, ZeroShotCrossEntropyConfig
from zsnmt.data.language_tags import TagPlacement
from zsnmt.languages import language_tag
from zsnmt.runs.trained_directions import TrainedDirections

STOCK, ALONE, CHUNKED, WHOLE = "the stock criterion", "translation alone", "chunked", "whole"
FORMS = {WHOLE: False, CHUNKED: True}
WEIGHT = 0.25  # of a term, which changes no time
MEASURED = [term for term in TERMS if term != "word_distillation"]  # which needs the checkpoint of a teacher


class RemedyTask(BenchmarkTask):
    """As much of a task as terms read, too: where tags stand, directions into and from the first language,
    and that text is not in whole words.
    """

    def __init__(self, vocabulary: int) -> None:
        super().__init__(vocabulary)
        pivot, *others = self.langs
        sides = [(other, pivot) for other in others] + [(pivot, other) for other in others]
        self.learned = TrainedDirections(["-".join(each) for each in sides])
        self.placement = TagPlacement("t_dec", self.target_dictionary)
        self.pipeline = SimpleNamespace(units=None)
        self.args = Namespace(
            left_pad_source=True, left_pad_target=False, max_source_positions=LONGEST, data="."
        )

    def batch(self, sentences: int, length: int) -> dict:
        """As many sentences of random words of each direction in turn, of `length` tokens with EOS."""
        dictionary = self.target_dictionary
        drawn = torch.Generator().manual_seed(1)
        first = dictionary.nspecial + len(LANGUAGES)
        words = torch.randint(first, len(dictionary), (2, sentences, length), generator=drawn)
        words[:, :, -1] = dictionary.eos()
        source, target = words
        sides = [direction.split("-") for direction in self.learned.trained]
        tags = torch.tensor([[*map(dictionary.index, map(language_tag, each))] for each in sides])
        languages = tags[torch.arange(sentences) % len(tags)]
        inputs = {
            "src_tokens": source,
            "src_lengths": torch.full((sentences,), length),
            "prev_output_tokens": torch.cat([languages[:, 1:], target[:, :-1]], dim=1),
        }
        return {"net_input": inputs, "target": target, "ntokens": target.numel(), "languages": languages}


def remedies(size: str, sentences: int, length: int, rounds: int, cpu_seconds: bool) -> Iterator[str]:
    """A table of an update with each term of a remedy in both forms, against the translation loss alone, and
    of one by the criteria that have no terms.
    """
    task = RemedyTask(SIZES[size]["vocabulary"])
    batch = task.batch(sentences, length)
    jobs = {
        f"{term} | {form}": remedy_step(task, SIZES[size], batch, term=term, chunked=chunked)
        for term in (STOCK, ALONE, *MEASURED)
        for form, chunked in FORMS.items()
    }
    base = f"{ALONE} | {CHUNKED}"
    times = paired_times(jobs, rounds, process_time if cpu_seconds else perf_counter)
    memory = {name: peak_memory(job) for name, job in jobs.items()}
    yield (
        f"\nTraining step, {size} size ({SIZES[size]}), {sentences} × {length} tokens, {rounds} rounds; "
        "memory is that of tensors at the peak, beyond weights and Adam's moments:\n"
    )
    seconds = "CPU seconds" if cpu_seconds else "seconds"
    yield (
        f"| term | logits | {seconds} (median) | ratio to {ALONE}, {CHUNKED}: median (range) | memory, MB | "
        "ratio |"
    )
    yield "|---|---|---:|---:|---:|---:|"
    for name, (middle, low, high) in ratios(times, base).items():
        yield (
            f"| {name} | {median(times[name]):.2f} | {middle:.2f} ({low:.2f}–{high:.2f}) | "
            f"{memory[name] / 1e6:,.0f} | {memory[name] / memory[base]:.2f} |"
        )


def remedy_step(task: RemedyTask, size: dict, batch: dict, *, term: str, chunked: bool) -> Callable[[], None]:
    """A call that does one update of a model of a size on a batch, by the translation loss and a term."""
    model = build("zs_transformer", task, **stock_options(size))
    criterion = criterion_of(task, term, chunked)
    if torch.cuda.is_available():
        model, batch = model.cuda(), move_to_cuda(batch)
    model.train()

    def loss() -> Tensor:
        total, size, _ = criterion(model, batch)
        return total / size

    return update(model, loss)


def criterion_of(task: RemedyTask, term: str, chunked: bool) -> LabelSmoothedCrossEntropyCriterion:
    """That with a term or none, or, of the same form, the one without terms."""
    smoothing = 0.1
    if term == STOCK:
        stock = ChunkedLabelSmoothedCrossEntropy if chunked else LabelSmoothedCrossEntropyCriterion
        return stock(task, sentence_avg=False, label_smoothing=smoothing)
    options = ZeroShotCrossEntropyConfig(label_smoothing=smoothing, sentence_avg=False, chunked_loss=chunked)
    if term in MEASURED:
        setattr(options, f"{term}_weight", WEIGHT)
    return ZeroShotCrossEntropy(options, task)
