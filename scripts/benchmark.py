"""Measure speed, as ratios paired in one process where things compare; prints Markdown for docs/performance.md.

    python scripts/benchmark.py training                          # each architecture against fairseq's transformer
    python scripts/benchmark.py relative                          # relative attention against plain, time and memory
    python scripts/benchmark.py encodings                         # each encoding of the encoder's positions likewise
    python scripts/benchmark.py bert                              # zs_bert by encoding against fairseq's masked language model
    python scripts/benchmark.py pivot RUN --from de --to fr --text test.de   # direct against through the pivot
    python scripts/benchmark.py directions RUN --from de --text test.de      # one language into all others at once
    python scripts/benchmark.py tokenisation --text test.de --language de    # several processes against a loop
    python scripts/benchmark.py probes                                       # time and memory of states and probes
"""

import argparse
import os
import platform
import resource
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from zsnmt import console
from zsnmt.corpora.parallel_text import read_lines
from zsnmt.errors import InputError

SIZES = {
    "paper": dict(encoder_layers=5, decoder_layers=5, width=512, feed_forward=2048, heads=8, vocabulary=18_900),
    "demo": dict(encoder_layers=5, decoder_layers=2, width=128, feed_forward=512, heads=4, vocabulary=1_000),
}
VARIANTS = {
    "zs_transformer": ("zs_transformer", {}),
    "zs_transformer_residual": ("zs_transformer_residual", {}),
    "zs_transformer_residual_query": ("zs_transformer_residual_query", {}),
    "zs_transformer_residual, variational dropout": ("zs_transformer_residual", dict(variational_dropout=True)),
}
PAIRWISE = "the same by T×T×d vectors"


def stock_options(size: dict, dropout: float = 0.2) -> dict:
    """Options of one size for any transformer of fairseq, with the paper's dropout unless told."""
    sides = {}
    for side in ("encoder", "decoder"):
        sides |= {
            f"{side}_layers": size[f"{side}_layers"],
            f"{side}_embed_dim": size["width"],
            f"{side}_ffn_embed_dim": size["feed_forward"],
            f"{side}_attention_heads": size["heads"],
        }
    rates = {name: dropout for name in ("dropout", "attention_dropout", "activation_dropout")}
    return dict(**sides, **rates, share_all_embeddings=True)


def training(options: argparse.Namespace) -> None:
    from zsnmt.benchmark import BenchmarkTask, build, paired_times, ratios, training_step

    for name in options.sizes:
        size = SIZES[name]
        task = BenchmarkTask(size["vocabulary"])
        stock = dict(encoder_normalize_before=True, decoder_normalize_before=True)
        models = {"fairseq transformer": build("transformer", task, **stock_options(size), **stock)}
        for title, (architecture, variant) in VARIANTS.items():
            models[title] = build(architecture, task, **stock_options(size), **variant)
        jobs = {title: training_step(model, options.sentences, options.length, size["vocabulary"]) for title, model in models.items()}
        times = paired_times(jobs, options.rounds)
        print(f"\nTraining step, {name} size ({size}), {options.sentences} × {options.length} tokens, {options.rounds} rounds:\n")
        print("| architecture | parameters | seconds a step (median) | ratio to fairseq's transformer: median (range) |")
        print("|---|---:|---:|---:|")
        for title, (middle, low, high) in ratios(times, "fairseq transformer").items():
            count = sum(parameter.numel() for parameter in models[title].parameters())
            print(f"| {title} | {count / 1e6:.2f} M | {median(times[title]):.3f} | {middle:.3f} ({low:.3f}–{high:.3f}) |")


def relative(options: argparse.Namespace) -> None:
    nowhere = dict(encoder_position_encoding="none", decoder_position_encoding="none")
    shaw = dict(**nowhere, relative_attention_distance=str(options.distance))
    print_steps({"plain": nowhere, f"relative, k = {options.distance}": shaw, PAIRWISE: shaw}, options)


def encodings(options: argparse.Namespace) -> None:
    from zsnmt.modules.positions import ENCODINGS

    print_steps({encoding: dict(encoder_position_encoding=encoding) for encoding in ENCODINGS}, options)


def print_steps(variants: dict[str, dict], options: argparse.Namespace) -> None:
    """A table for each rate of dropout: time and memory of a training step of variants of `zs_transformer`, against the first."""
    if options.tokens < max(options.lengths):
        raise InputError(f"--tokens {options.tokens} has no room for a sentence of {max(options.lengths)}; give more")
    from zsnmt.benchmark import BenchmarkTask, build, paired_times, peak_memory, ratios, training_step, use_pairwise_form

    size, baseline = SIZES[options.size], next(iter(variants))
    seconds, clock = ("CPU seconds", process_time) if options.cpu_seconds else ("seconds", perf_counter)
    task = BenchmarkTask(size["vocabulary"])
    for dropout in options.dropout:
        print(f"\nTraining step, {options.size} size ({size}), {options.tokens} tokens, dropout {dropout}, {options.rounds} rounds; "
              "memory is that of tensors at the peak, beyond weights and Adam's moments:\n")  # fmt: skip
        print(f"| length | | {seconds} a step (median) | ratio to {baseline}: median (range) | memory, MB | ratio to {baseline} |")
        print("|---:|---|---:|---:|---:|---:|")
        for length in options.lengths:
            jobs = {}
            for title, variant in variants.items():
                model = build("zs_transformer", task, **stock_options(size, dropout), **variant)
                if title == PAIRWISE:
                    use_pairwise_form(model)
                jobs[title] = training_step(model, options.tokens // length, length, size["vocabulary"])
            times = paired_times(jobs, options.rounds, clock)
            memory = {title: peak_memory(job) for title, job in jobs.items()}
            for title, (middle, low, high) in ratios(times, baseline).items():
                print(f"| {length} | {title} | {median(times[title]):.2f} | {middle:.3f} ({low:.3f}–{high:.3f}) "
                      f"| {memory[title] / 1e6:,.0f} | {memory[title] / memory[baseline]:.2f} |", flush=True)  # fmt: skip


def bert(options: argparse.Namespace) -> None:
    from zsnmt.benchmark import paired_times, ratios
    from zsnmt.bert_benchmark import SIZE, STOCK, bert_models, masked_lm_step

    task, models = bert_models(options.vocabulary)
    jobs = {title: masked_lm_step(task, model, options.sentences, options.length, options.cpu_bf16) for title, model in models.items()}
    times = paired_times(jobs, options.rounds, process_time if options.cpu_seconds else perf_counter)
    speeds = {title: [options.sentences * options.length / seconds for seconds in of_model] for title, of_model in times.items()}
    print(f"\nMasked-LM training step ({SIZE}, vocabulary {options.vocabulary}), {options.sentences} × {options.length} tokens, "
          f"{'bfloat16' if options.cpu_bf16 else 'float32'}, {options.rounds} rounds:\n")  # fmt: skip
    print(f"| model | parameters | tokens a {'CPU ' * options.cpu_seconds}second (median) | speed, as a ratio to fairseq's (above 1: faster): median (range) |")
    print("|---|---:|---:|---:|")
    for title, (middle, low, high) in ratios(speeds, STOCK).items():
        count = sum(parameter.numel() for parameter in models[title].parameters())
        print(f"| {title} | {count:,} | {median(speeds[title]):,.0f} | {middle:.3f} ({low:.3f}–{high:.3f}) |")


def pivot(options: argparse.Namespace) -> None:
    from zsnmt.benchmark import paired_times
    from zsnmt.translation import Translator

    translator = Translator(options.run)
    lines = read_lines(options.text)[: options.lines]
    jobs = {
        f"through {translator.pivot}": lambda: translator.translate(lines, options.to, options.source, via=translator.pivot),
        "direct": lambda: translator.translate(lines, options.to, options.source),
    }
    times = paired_times(jobs, options.rounds)
    print(f"\n{options.source} to {options.to}, {len(lines)} sentences, {options.rounds} rounds:\n")
    print_ratios(times, f"through {translator.pivot}", "the pivot")


def directions(options: argparse.Namespace) -> None:
    from zsnmt.benchmark import paired_times
    from zsnmt.languages import Direction
    from zsnmt.translation import Translator

    once, each_time = Translator(options.run), Translator(options.run)
    each_time.generator = each_time.task.build_generator([each_time.model], each_time.search)
    lines = read_lines(options.text)[: options.lines]
    targets = [Direction(options.source, language) for language in once.languages if language != options.source]
    jobs = {
        "one direction after another": lambda: [once.translate_into(lines, [direction]) for direction in targets],
        "all at once, encoded for each": lambda: each_time.translate_into(lines, targets),
        "all at once, encoded once": lambda: once.translate_into(lines, targets),
    }
    times = paired_times(jobs, options.rounds)
    print(f"\n{options.source} to {len(targets)} languages, {len(lines)} sentences, {options.rounds} rounds:\n")
    print_ratios(times, "one direction after another", "the first")


def print_ratios(times: dict[str, list[float]], baseline: str, called: str) -> None:
    from zsnmt.benchmark import ratios

    print(f"| way | seconds (median) | ratio to {called}: median (range) |")
    print("|---|---:|---:|")
    for title, (middle, low, high) in ratios(times, baseline).items():
        print(f"| {title} | {median(times[title]):.2f} | {middle:.3f} ({low:.3f}–{high:.3f}) |")


def tokenisation(options: argparse.Namespace) -> None:
    from zsnmt.benchmark import paired_times, ratios
    from zsnmt.text.parallel import map_in_processes
    from zsnmt.text.tokenisation import load_tokeniser

    tokenise = load_tokeniser(options.kind, options.language).tokenise
    lines = read_lines(options.text)[: options.lines]
    jobs = {"a plain loop": lambda: [tokenise(line) for line in lines]}
    for workers in options.workers:
        jobs[f"{workers} processes"] = lambda workers=workers: list(map_in_processes(tokenise, lines, workers))
    times = paired_times(jobs, options.rounds)
    print(f"\n`{options.kind}` of {options.language}, {len(lines)} sentences, {options.rounds} rounds:\n")
    print("| way | sentences a second (median) | time, as a ratio to the loop's: median (range) |")
    print("|---|---:|---:|")
    for title, (middle, low, high) in ratios(times, "a plain loop").items():
        print(f"| {title} | {len(lines) / median(times[title]):,.0f} | {middle:.2f} ({low:.2f}–{high:.2f}) |")


def probes(options: argparse.Namespace) -> None:
    import numpy as np

    from zsnmt.analysis.classifiers import fit_as_published
    from zsnmt.analysis.similarities import similarities
    from zsnmt.analysis.state_folder import FINAL, read_states
    from zsnmt.analysis.states import ProbedModel, write_states
    from zsnmt.benchmark import LANGUAGES, BenchmarkTask, build

    size, generator = SIZES[options.size], np.random.default_rng(1)
    task = BenchmarkTask(size["vocabulary"])
    encoder = build("zs_transformer", task, **stock_options(size)).encoder.eval()
    layers = [*map(str, range(size["encoder_layers"] + 1)), FINAL]
    record = {"layers": layers, "dimension": size["width"]}
    model = ProbedModel(encoder, task.source_dictionary, [*LANGUAGES], lambda lines, _: map(str.split, lines), lambda _: [], record)
    words = task.source_dictionary.symbols[4 + len(LANGUAGES) :]  # all but fairseq's own and the tags
    lengths = generator.integers(options.length // 2, 3 * options.length // 2 + 1, (len(LANGUAGES), options.sentences))
    text = {language: [" ".join(generator.choice(words, n)) for n in of_language] for language, of_language in zip(LANGUAGES, lengths)}
    print(f"\n{options.size} size ({size}), random weights and words: {len(LANGUAGES)} languages × {options.sentences} sentences, "
          f"{lengths.sum()} tokens, {len(layers)} layers:\n")  # fmt: skip
    print("| stage | CPU seconds | peak memory so far, MB |")
    print("|---|---:|---:|")
    used("nothing but the model", lambda: None)
    with TemporaryDirectory() as folder:
        used("states of all layers", lambda: write_states(Path(folder, "states"), model, text))
        states = read_states(Path(folder, "states"))
        used("similarity, all layers and pairs", lambda: [*similarities(states, generator)])
        batch = len(states.labels.token) // 800
        for label, updates in (("language", 800), ("position", 800), ("token", 200)):
            numbers, rows = getattr(states.labels, label), generator.permutation(len(states.labels.token))[: updates * batch]
            used(f"classifier of {label}, one layer, {updates} updates of {batch} rows, {len(np.unique(numbers[rows]))} classes",
                 lambda: fit_as_published(states.layers[FINAL], numbers, rows, 1, batch, warm_up=updates))  # fmt: skip


def used(title: str, job: Callable[[], object]) -> None:
    """Do a job and print a row with what it took; the memory of mapped files counts."""
    start = process_time()
    job()
    print(f"| {title} | {process_time() - start:.1f} | {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("training", help="a training step of each architecture against fairseq's transformer")
    verb.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES), help="sizes of the models")
    verb.add_argument("--sentences", type=int, default=40, help="sentences in the batch")
    verb.add_argument("--length", type=int, default=25, help="tokens in each sentence")
    verb.add_argument("--rounds", type=int, default=7, help="rounds that count")
    verb.set_defaults(measure=training)
    for title, measure, lengths, does in (
        ("relative", relative, [32, 128, 512], "a training step of relative attention against plain attention and against T×T×d vectors"),
        ("encodings", encodings, [128], "a training step of each encoding of the encoder's positions"),
    ):
        verb = verbs.add_parser(title, help=does)
        verb.add_argument("--size", choices=SIZES, default="paper", help="size of the model (default: %(default)s)")
        verb.add_argument("--lengths", type=int, nargs="+", default=lengths, help="tokens in each sentence")
        verb.add_argument("--tokens", type=int, default=1024, help="tokens in the batch (default: %(default)s)")
        verb.add_argument("--dropout", type=float, nargs="+", default=[0.2, 0.0], help="rates of dropout, a table each")
        verb.add_argument("--rounds", type=int, default=7, help="rounds that count")
        verb.add_argument("--cpu-seconds", action="store_true", help="count the process's CPU time: fairer on a busy machine")
        verb.set_defaults(measure=measure)
        if measure is relative:
            verb.add_argument("--distance", type=int, default=16, help="clip distance k (default: %(default)s)")
    verb = verbs.add_parser("bert", help="a training step of zs_bert with each encoding against fairseq's masked language model")
    verb.add_argument("--sentences", type=int, default=256, help="lines in the batch (default: %(default)s)")
    verb.add_argument("--length", type=int, default=24, help="tokens in each line (default: %(default)s)")
    verb.add_argument("--vocabulary", type=int, default=4096, help="symbols of both languages (default: %(default)s)")
    verb.add_argument("--rounds", type=int, default=7, help="rounds that count")
    verb.add_argument("--cpu-bf16", action="store_true", help="in bfloat16 where it is safe")
    verb.add_argument("--cpu-seconds", action="store_true", help="count the process's CPU time: fairer on a busy machine")
    verb.set_defaults(measure=bert)
    for title, measure, does in (
        ("pivot", pivot, "translation, direct against through the pivot"),
        ("directions", directions, "translation of one language into all others, encoded once"),
    ):
        verb = verbs.add_parser(title, help=does)
        verb.add_argument("run", type=Path, help="run folder")
        verb.add_argument("--from", dest="source", required=True, help="source language")
        if measure is pivot:
            verb.add_argument("--to", required=True, help="target language")
        verb.add_argument("--text", type=Path, required=True, help="sentences of the source language")
        verb.add_argument("--lines", type=int, default=200, help="how many of them")
        verb.add_argument("--rounds", type=int, default=5, help="rounds that count")
        verb.set_defaults(measure=measure)
    verb = verbs.add_parser("tokenisation", help="tokenisation by several processes against a plain loop")
    verb.add_argument("--text", type=Path, required=True, help="sentences")
    verb.add_argument("--language", required=True, help="their language")
    verb.add_argument("--kind", default="moses", help="tokenisation that needs no truecaser (default: %(default)s)")
    verb.add_argument("--lines", type=int, default=20_000, help="how many sentences")
    verb.add_argument("--workers", type=int, nargs="+", default=[os.cpu_count()], help="numbers of processes")
    verb.add_argument("--rounds", type=int, default=5, help="rounds that count")
    verb.set_defaults(measure=tokenisation)
    verb = verbs.add_parser("probes", help="states, similarity and classifiers of a random model and text")
    verb.add_argument("--size", choices=SIZES, default="paper", help="size of the model (default: %(default)s)")
    verb.add_argument("--sentences", type=int, default=1147, help="sentences of each language (default: %(default)s)")
    verb.add_argument("--length", type=int, default=25, help="tokens in a sentence, on average (default: %(default)s)")
    verb.set_defaults(measure=probes)
    options = parser.parse_args()

    import torch

    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} thread(s), {platform.machine()}, load {os.getloadavg()[0]:.1f}")
    options.measure(options)


if __name__ == "__main__":
    console.run(main)
