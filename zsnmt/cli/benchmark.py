"""Measure speed, mostly as ratios of two things that take turns in one process; prints Markdown for
docs/performance.md and docs/training_speed.md.

    zsnmt benchmark training                          # each architecture against fairseq's transformer
    zsnmt benchmark relative                          # relative attention against plain, time and memory
    zsnmt benchmark encodings                         # each position encoding of the encoder, too
    zsnmt benchmark compiled                          # torch.compile against --fast-training
    zsnmt benchmark remedies                          # each term of the loss, time and memory
    zsnmt benchmark bert                              # zs_bert by encoding against fairseq's masked LM
    zsnmt benchmark training_speed DATA               # whole trainings with each faster option
    zsnmt benchmark curves RUN [RUN ...]              # how runs learn, from one validation to the next
    zsnmt benchmark translation                       # engines of translation against fairseq's
    zsnmt benchmark translation RUN --from de --to fr --text test.de --reference test.fr   # with BLEU
    zsnmt benchmark translation RUN … --mask --pivot             # and by the target language's pieces alone
    zsnmt benchmark gpu                               # searches on a GPU, by precision and size of batch
    zsnmt benchmark pivot RUN --from de --to fr --text test.de   # direct against through the pivot
    zsnmt benchmark student TEACHER RUN --from de --to fr --text test.de --reference test.fr
    zsnmt benchmark methods                           # ensembles, contrasts, masks against direct translation
    zsnmt benchmark directions RUN --from de --text test.de      # one language into all others at once
    zsnmt benchmark tokenisation --text test.de --language de    # several processes against a loop
    zsnmt benchmark serving RUN --from de --to fr --text test.de # requests to a server, against its engine
    zsnmt benchmark faults RUN --from de --to fr --text test.de  # 10,000 requests, most of them wrong
    zsnmt benchmark installation RUN EXPORT --from de --to fr    # sizes on disk, and how long a start takes
    zsnmt benchmark probes                                       # time and memory of states and probes
    zsnmt benchmark growth --languages 5 10 20 50     # every step, as languages, sentences and model grow
"""

import argparse
import os
import platform
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from zsnmt import console
from zsnmt.benchmarks.sizes import SHARE, SIZES
from zsnmt.cli.common.argument_types import output_file, positive, seed_number
from zsnmt.decoding.options import add_engine_options
from zsnmt.decoding.search import Search
from zsnmt.processes import cores

Verbs = argparse._SubParsersAction
AddOptions = Callable[[argparse.ArgumentParser], None]


class Measure(NamedTuple):
    """What a verb does, in which module and how many rounds it is measured, and what adds its options."""

    does: str
    module: str
    rounds: int | None
    add_options: AddOptions


MEASURES: dict[str, Measure] = {}  # by verb, in the order of the help


def make_parser() -> tuple[console.Parser, Verbs]:
    """The parser, and its verbs."""
    parser = console.Parser(prog="zsnmt benchmark", description=__doc__)
    verbs = parser.add_subparsers(required=True, metavar="MEASURE")
    for name, each in MEASURES.items():
        verb = verbs.add_parser(name, help=each.does)
        verb.set_defaults(measure=(each.module, name))
        if each.rounds is not None:
            verb.add_argument("--rounds", type=positive, default=each.rounds, help="rounds that are measured")
        each.add_options(verb)
    return parser, verbs


def main(arguments: Sequence[str] | None = None) -> None:
    parser, _ = make_parser()
    options = vars(parser.parse_args(arguments))
    module, verb = options.pop("measure")

    import torch

    threads, load = torch.get_num_threads(), os.getloadavg()[0]
    print(
        f"PyTorch {torch.__version__}, {threads} thread(s), {platform.machine()}, load {load:.1f}", flush=True
    )
    for line in getattr(import_module(f"zsnmt.benchmarks.{module}"), verb)(**options):
        print(line, flush=True)


def measure(does: str, *, module: str = "", rounds: int | None = None) -> Callable[[AddOptions], AddOptions]:
    """Decorate a function that adds the options of a verb of its name. A function of that name in a module of
    `zsnmt.benchmarks` measures it: in the module of that name, too, unless told, and in so many rounds.
    """

    def decorate(add_options: AddOptions) -> AddOptions:
        name = add_options.__name__
        MEASURES[name] = Measure(does, module=module or name, rounds=rounds, add_options=add_options)
        return add_options

    return decorate


def add_size(verb: argparse.ArgumentParser, default: str) -> None:
    verb.add_argument("--size", choices=SIZES, default=default, help="size of the model")


def add_batch(verb: argparse.ArgumentParser, sentences: int, *, length: int) -> None:
    """Add how large a batch of made-up sentences is."""
    verb.add_argument("--sentences", type=positive, default=sentences, help="sentences in the batch")
    verb.add_argument("--length", type=positive, default=length, help="tokens in each sentence")


def add_cpu_seconds(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--cpu-seconds", action="store_true", help="count the process's CPU time: fairer on a busy machine"
    )


def add_output(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--output", type=output_file, metavar="FILE", help="also write the figures of every round, in JSON"
    )


@measure(
    "a training step of each architecture against fairseq's transformer", module="architectures", rounds=7
)
def training(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--sizes", nargs="+", choices=SIZES, default=["paper", "demo"], help="sizes of the models"
    )
    add_batch(verb, 40, length=25)


@measure(
    "a training step of relative attention against plain attention and against T×T×d vectors",
    module="architectures",
    rounds=7,
)
def relative(verb: argparse.ArgumentParser) -> None:
    add_lengths(verb, [32, 128, 512])
    verb.add_argument("--distance", type=positive, default=16, help="clip distance k")


@measure("a training step of each encoding of the encoder's positions", module="architectures", rounds=7)
def encodings(verb: argparse.ArgumentParser) -> None:
    add_lengths(verb, [128])


def add_lengths(verb: argparse.ArgumentParser, lengths: list[int]) -> None:
    """Add the size of a model and batches of some lengths."""
    add_size(verb, "paper")
    verb.add_argument("--lengths", type=positive, nargs="+", default=lengths, help="tokens in each sentence")
    verb.add_argument("--tokens", type=positive, default=1024, help="tokens in the batch")
    verb.add_argument(
        "--dropout", type=float, nargs="+", default=[0.2, 0.0], help="rates of dropout; each has a table"
    )
    add_cpu_seconds(verb)


@measure("encoder layers in bfloat16, compiled by PyTorch, against --fast-training", rounds=7)
def compiled(verb: argparse.ArgumentParser) -> None:
    add_size(verb, "demo")
    add_batch(verb, 80, length=20)
    verb.add_argument("--dropout", type=float, default=0.1, help="rate of all dropout")


@measure("a training step with each term of the loss, its logits whole and in chunks", rounds=5)
def remedies(verb: argparse.ArgumentParser) -> None:
    add_size(verb, "middle")
    add_batch(verb, 60, length=20)
    add_cpu_seconds(verb)


@measure("a training step of zs_bert with each encoding against fairseq's masked language model", rounds=7)
def bert(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--sentences", type=positive, default=256, help="lines in the batch")
    verb.add_argument("--length", type=positive, default=24, help="tokens in each line")
    verb.add_argument("--vocabulary", type=positive, default=4096, help="symbols of both languages")
    verb.add_argument("--cpu-bf16", action="store_true", help="in bfloat16 where it is safe")
    add_cpu_seconds(verb)


@measure("words a second of fairseq-train with its faster options", rounds=3)
def training_speed(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("data", type=Path, help="folder of binarised data, as zsnmt prepare makes it")
    add_size(verb, "middle")
    verb.add_argument(
        "--updates", type=positive, default=60, help="updates of a training, whose second half counts"
    )
    verb.add_argument("--max-tokens", type=positive, default=2500, help="tokens in a batch")
    verb.add_argument("--precisions", nargs="+", metavar="NAME", help="only these precisions (default: all)")
    verb.add_argument("--dropout", type=float, default=0.2, help="rate of all dropout")
    verb.add_argument("--threads", type=positive, default=2, help="threads of a training")
    add_output(verb)


@measure("validation loss of runs by updates, the seeds of a system together")
def curves(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="run folders of one config")


@measure("engines of translation against fairseq's, on a CPU", rounds=3)
def translation(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("run", type=Path, nargs="?", help="run folder (default: random weights)")
    add_real_text(verb, required=False)
    verb.add_argument("--size", choices=SIZES, help="size of the model of random weights (default: paper)")
    verb.add_argument("--lines", type=positive, default=256, help="how many sentences")
    verb.add_argument("--beam", type=positive, default=Search.beam, help="hypotheses kept at each step")
    verb.add_argument("--batch", type=positive, default=32, help="sentences in a batch")
    verb.add_argument("--workers", type=positive, default=2, help="processes, or threads of one process")
    verb.add_argument(
        "--single-process",
        action="store_true",
        help="also measure PyTorch in one process with --workers threads",
    )
    verb.add_argument(
        "--mask", action="store_true", help="also among the target language's pieces alone, into one language"
    )
    verb.add_argument(
        "--share",
        type=float,
        help=f"with --mask: of the words of random weights that the language has (default: {SHARE:g})",
    )
    verb.add_argument("--pivot", action="store_true", help="also through a run's pivot")
    add_cpu_seconds(verb)
    add_output(verb)


@measure("searches on a GPU, by precision and size of batch, against fairseq's", rounds=3)
def gpu(verb: argparse.ArgumentParser) -> None:
    add_random_text(verb, size="paper", lines=1024)
    verb.add_argument(
        "--batches", type=positive, nargs="+", default=[64, 256, 1024], help="sentences in a batch"
    )
    add_output(verb)


@measure(
    "a student's direct translation against its teacher's through the pivot", module="students", rounds=3
)
def student(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("teacher", type=Path, metavar="TEACHER_RUN", help="run folder of the teacher")
    verb.add_argument("run", type=Path, help="run folder of the student")
    add_real_text(verb)
    verb.add_argument("--lines", type=positive, default=500, help="how many sentences")
    add_engine_options(verb)
    add_cpu_seconds(verb)


def add_random_text(verb: argparse.ArgumentParser, size: str, lines: int) -> None:
    """Random sentences that random weights translate, and how they search."""
    verb.add_argument("--size", choices=SIZES, default=size, help="size of the model of random weights")
    verb.add_argument("--lines", type=positive, default=lines, help="how many sentences")
    verb.add_argument("--beam", type=positive, default=Search.beam, help="hypotheses kept at each step")


def add_real_text(
    verb: argparse.ArgumentParser, required: bool = True, *, to: bool = True, reference: bool = True
) -> None:
    """Sentences that a run translates: `to` one language, with a `reference` for BLEU."""
    verb.add_argument("--from", dest="source", required=required, help="source language of the text")
    if to:
        verb.add_argument("--to", required=required, help="target language")
    verb.add_argument("--text", type=Path, required=required, help="sentences of the source language")
    if reference:
        verb.add_argument("--reference", type=Path, required=required, help="their translations, for BLEU")


@measure("translation, direct against through the pivot", module="ways", rounds=5)
def pivot(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("run", type=Path, help="run folder")
    add_real_text(verb, reference=False)
    verb.add_argument("--lines", type=positive, default=200, help="how many of them")


@measure("translation of one language into all others, encoded once", module="ways", rounds=5)
def directions(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("run", type=Path, help="run folder")
    add_real_text(verb, to=False, reference=False)
    verb.add_argument("--lines", type=positive, default=200, help="how many of them")


@measure("ensembles, contrasts and masks against direct translation", rounds=5)
def methods(verb: argparse.ArgumentParser) -> None:
    add_random_text(verb, size="demo", lines=128)
    verb.add_argument("--batch", type=positive, default=32, help="sentences in a batch")


@measure("tokenisation by several processes against a plain loop", module="ways", rounds=5)
def tokenisation(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--text", type=Path, required=True, help="sentences")
    verb.add_argument("--language", required=True, help="their language")
    verb.add_argument("--kind", default="moses", help="tokenisation that needs no truecaser")
    verb.add_argument("--lines", type=positive, default=20_000, help="how many sentences")
    verb.add_argument("--workers", type=positive, nargs="+", default=[cores()], help="numbers of processes")


@measure("a server under load against its engine alone", rounds=3)
def serving(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--clients", type=positive, nargs="+", default=[1, 8, 64], help="numbers of clients that ask at once"
    )
    verb.add_argument(
        "--requests", type=positive, default=500, help="requests of each round and number of clients"
    )
    add_served_model(verb)


@measure("a server under requests of which most are wrong")
def faults(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--clients", type=positive, default=16, help="clients that ask at once")
    verb.add_argument("--requests", type=positive, default=10_000, help="number of requests of all kinds")
    verb.add_argument("--seed", type=seed_number, default=1, help="seed of the order of requests")
    add_served_model(verb)


def add_served_model(verb: argparse.ArgumentParser) -> None:
    """Add what a server translates with, and the sentences that it is asked for."""
    verb.add_argument("run", type=Path, help="run folder, or an export")
    add_real_text(verb, reference=False)
    verb.add_argument("--beam", type=positive, default=Search.beam, help="hypotheses kept at each step")
    add_engine_options(verb)


@measure("sizes of installations, and how long a translation takes to start", rounds=5)
def installation(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("run", type=Path, help="run folder")
    verb.add_argument("export", type=Path, help="its export for CTranslate2")
    verb.add_argument("--from", dest="source", required=True, help="source language")
    verb.add_argument("--to", dest="target", required=True, help="target language")


@measure("states, similarity and classifiers of a random model and text")
def probes(verb: argparse.ArgumentParser) -> None:
    add_size(verb, "paper")
    verb.add_argument("--sentences", type=positive, default=1147, help="sentences of each language")
    verb.add_argument("--length", type=positive, default=25, help="tokens in a sentence, on average")


@measure("every step from text to page, as languages, sentences and model grow")
def growth(verb: argparse.ArgumentParser) -> None:
    for name, default, does in (
        ("languages", [5, 10, 20, 50], "numbers of invented languages"),
        ("pairs", [100], "training pairs of each with the pivot"),
        ("widths", [64], "widths of the model, which has 5+2 layers"),
    ):
        verb.add_argument(f"--{name}", type=positive, nargs="+", default=default, help=does)
    verb.add_argument("--updates", type=positive, default=20, help="updates of each training")
    verb.add_argument("--lines", type=positive, default=4, help="lines of the test set")
    verb.add_argument("--folder", type=Path, help="folder to keep the experiments in (default: none)")
    verb.add_argument("--output", type=output_file, metavar="FILE", help="also write all, in JSON")
    verb.add_argument("--figure", type=output_file, metavar="FILE", help="also draw it, as PNG")
