"""Training steps of masked language models: `zs_bert` with each encoding, and fairseq's RoBERTa of its
size.
"""

from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter, process_time

import torch
from fairseq.criterions.masked_lm import MaskedLmConfig, MaskedLmLoss
from fairseq.models import BaseFairseqModel

from zsnmt.benchmarks.models import BenchmarkTask, build, parameters
from zsnmt.benchmarks.paired import paired_times, ratios
from zsnmt.data.masked_sentences import MASK, MaskedSentences, Masking
from zsnmt.errors import InputError
from zsnmt.modules.position_names import ENCODINGS

STOCK = "fairseq roberta"
SIZE = dict(
    encoder_layers=12,
    encoder_embed_dim=64,
    encoder_ffn_embed_dim=256,
    encoder_attention_heads=1,
    max_positions=512,
    dropout=0.1,
    attention_dropout=0.1,
)


def bert(
    sentences: int, length: int, vocabulary: int, rounds: int, cpu_bf16: bool, cpu_seconds: bool
) -> Iterator[str]:
    """The speed of each model against fairseq's; `InputError` for lines of EOS alone, and for longer ones
    than the models read.
    """
    if not 2 <= length <= SIZE["max_positions"]:
        raise InputError(f"--length {length} cannot be measured; give 2 to {SIZE['max_positions']} tokens")
    task, models = bert_models(vocabulary)
    jobs = {
        title: masked_lm_step(task, model, sentences, length=length, bf16=cpu_bf16)
        for title, model in models.items()
    }
    times = paired_times(jobs, rounds, process_time if cpu_seconds else perf_counter)
    speeds = {
        title: [sentences * length / seconds for seconds in of_model] for title, of_model in times.items()
    }
    yield (
        f"\nMasked-LM training step ({SIZE}, vocabulary {vocabulary}), {sentences} × {length} tokens, "
        f"{'bfloat16' if cpu_bf16 else 'float32'}, {rounds} rounds:\n"
    )
    yield (
        f"| model | parameters | tokens a {'CPU ' * cpu_seconds}second (median) "
        "| speed, as a ratio to fairseq's (above 1: faster): median (range) |"
    )
    yield "|---|---:|---:|---:|"
    for title, (middle, low, high) in ratios(speeds, STOCK).items():
        yield (
            f"| {title} | {parameters(models[title]):,} | {median(speeds[title]):,.0f} | {middle:.3f} "
            f"({low:.3f}–{high:.3f}) |"
        )


def bert_models(vocabulary: int) -> tuple[BenchmarkTask, dict[str, BaseFairseqModel]]:
    """A task of `vocabulary` symbols, and for it fairseq's model and `zs_bert` with each encoding, learned
    positions first.
    """
    task = BenchmarkTask(vocabulary - 1)
    task.source_dictionary.add_symbol(MASK)
    models = {STOCK: build("roberta", task, **SIZE)}
    for encoding in sorted(ENCODINGS, key="learned".__ne__):
        models[f"zs_bert, {encoding}"] = build("zs_bert", task, **SIZE, position_encoding=encoding)
    return task, models


def masked_lm_step(
    task: BenchmarkTask, model: BaseFairseqModel, sentences: int, length: int, bf16: bool = False
) -> Callable[[], None]:
    """A call that does one update on a fixed batch of lines of `length` tokens: masked-LM loss, backward
    pass, Adam.

    `bf16`: in bfloat16 where it is safe, on a CPU.
    """
    generator, dictionary = torch.Generator().manual_seed(1), task.source_dictionary
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    lines = torch.randint(dictionary.nspecial, len(dictionary), (sentences, length - 1), generator=generator)
    lines[:, -1] = dictionary.eos()
    dataset = MaskedSentences(
        lines, [length - 1] * sentences, dictionary, masking=Masking(), length=length, seed=1
    )
    batch = dataset.collater([dataset[line] for line in range(sentences)])
    batch["target"] = batch["target"].to(device)
    batch["net_input"] = {name: value.to(device) for name, value in batch["net_input"].items()}
    model, criterion = model.to(device).train(), MaskedLmLoss(MaskedLmConfig(tpu=False), task)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, eps=1e-6)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss, chosen, _ = criterion(model, batch)
            (loss / chosen).backward()
        optimizer.step()
        optimizer.zero_grad()
        if device.type == "cuda":
            torch.cuda.synchronize()

    return step
