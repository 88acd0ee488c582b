"""A tiny corpus, fairseq's own commands, and models that they trained: what the tests of tasks share."""

import contextlib
import importlib
import io
import json
import logging
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest
from fairseq import checkpoint_utils, options, tasks

from zsnmt.corpora.invented.corpus import SyntheticCorpus, write_corpus
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.languages import parse_direction
from zsnmt.tasks.zs_translation import ZeroShotTranslationTask
from zsnmt.text.settings import TextSettings
from zsnmt.training.binarised import prepare

PLUGIN = ["--user-dir", str(Path(__file__).parents[2] / "zsnmt"), "--task", "zs_translation"]
BLEU_LINES = 7
PAIRS, VALID, TEST = 61, 11, 13  # no multiple of 8, the default of --required-batch-size-multiple
PIVOT, FIRST, SECOND = LANGUAGES = ["inglan", "velan", "tamun"]
SUPERVISED = [f"{PIVOT}-{FIRST}", f"{PIVOT}-{SECOND}", f"{FIRST}-{PIVOT}", f"{SECOND}-{PIVOT}"]
ZERO_SHOT = [f"{FIRST}-{SECOND}", f"{SECOND}-{FIRST}"]
TINY = (
    "--encoder-embed-dim 16 --decoder-embed-dim 16 --encoder-ffn-embed-dim 24 --decoder-ffn-embed-dim 24 "
    "--encoder-attention-heads 2 --decoder-attention-heads 2 --encoder-layers 2 --decoder-layers 2"
).split()
TRAINING = (
    "--criterion label_smoothed_cross_entropy --label-smoothing 0.1 --optimizer adam --lr 0.005 "
    "--max-tokens 600 --seed 3 --num-workers 0 --log-format json --log-interval 1"
).split()


@dataclass
class Output:
    """What a command printed, and the figures that it logged by tag: `train_inner`, `train`, `valid`."""

    text: str
    logged: dict[str, list[dict[str, str]]]

    def lines(self, kind: str) -> dict[int, str]:
        """The last column of the lines `kind-NUMBER` of fairseq-generate and -interactive, by number."""
        rows = [line.split("\t") for line in self.text.splitlines() if line.startswith(f"{kind}-")]
        return {int(row[0].removeprefix(f"{kind}-")): row[-1] for row in rows}

    def figures(self, tag: str, name: str) -> list[float]:
        """A logged figure over time."""
        return [float(figures[name]) for figures in self.logged[tag] if name in figures]


class Figures(logging.Handler):
    """Keeps what progress bars log as JSON, by their tag."""

    def __init__(self) -> None:
        super().__init__()
        self.logged: dict[str, list[dict[str, str]]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("{"):
            self.logged.setdefault(record.name, []).append(json.loads(record.getMessage()))


@contextlib.contextmanager
def leaving_nothing_behind() -> Iterator[tuple[io.StringIO, Figures]]:
    """What a command prints and logs; its traces in the process are removed."""
    from fairseq_cli import train

    root, fairseq = logging.getLogger(), logging.getLogger("fairseq.logging.progress_bar")
    handlers, printed, figures = list(root.handlers), io.StringIO(), Figures()
    fairseq.addHandler(figures)
    fairseq.setLevel(logging.INFO)
    try:
        with contextlib.redirect_stdout(printed):
            yield printed, figures
    finally:
        fairseq.removeHandler(figures)
        root.handlers[:] = handlers
        for function in (checkpoint_utils.save_checkpoint, train.should_stop_early):
            vars(function).clear()  # they keep the best score


def fairseq(tool: str, *arguments: object) -> Output:
    """Call a command of fairseq as the shell would, but in this process."""
    command = [f"fairseq-{tool}", *map(str, arguments)]
    with leaving_nothing_behind() as (printed, figures), mock.patch.object(sys, "argv", command):
        importlib.import_module(f"fairseq_cli.{tool}").cli_main()
    return Output(printed.getvalue(), figures.logged)


def training_options(data: Path, run: Path, *arguments: object) -> list[str]:
    """Options that train a tiny model; the arguments come last, so that they win."""
    arch = ["--arch", "zs_transformer_residual", "--save-dir", run]
    return [str(option) for option in (data, *PLUGIN, *arch, *TINY, *TRAINING, *arguments)]


def task_of(data: Path, *arguments: object) -> ZeroShotTranslationTask:
    """The task as a command sets it up; without -s and -t, for training."""
    parser = options.get_generation_parser(default_task="zs_translation")
    return tasks.setup_task(options.parse_args_and_arch(parser, [str(data), *map(str, arguments)]))


def towards(direction: str) -> list[str]:
    source, target = parse_direction(direction)
    return ["-s", source, "-t", target]


def batches(
    task: ZeroShotTranslationTask, split: str, by: type = ZeroShotTranslationTask, **limits
) -> list[dict]:
    """All batches of a split under fairseq's default --required-batch-size-multiple."""
    task.load_dataset(split)
    iterator = by.get_batch_iterator(task, task.dataset(split), **limits, required_batch_size_multiple=8)
    return list(iterator.next_epoch_itr())


class Run(NamedTuple):
    """A trained model, and what its training put out."""

    folder: Path
    output: Output

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint_best.pt"


@pytest.fixture(scope="session")
def text(tmp_path_factory) -> Path:
    """Parallel text of a pivot and two other languages; validation and test sets are multiway."""
    folder = tmp_path_factory.mktemp("corpus") / "text"
    write_corpus(
        SyntheticCorpus(standard_languages(2), concepts=60, pairs=PAIRS, valid=VALID, test=TEST, longest=8),
        folder,
    )
    return folder


@pytest.fixture(scope="session")
def data(text) -> Path:
    """The same, binarised."""
    prepare(text, text.with_name("data"), LANGUAGES, TextSettings(150))
    return text.with_name("data")


@pytest.fixture
def own_data(data, tmp_path) -> Path:
    """A copy of the binarised data that a test may change."""
    return shutil.copytree(data, tmp_path / "data")


@pytest.fixture(scope="session")
def tag_run(data, tmp_path_factory) -> Run:
    """A model whose decoder begins with the tag, validated on all directions, also by translating some
    lines.
    """
    folder = tmp_path_factory.mktemp("t_dec")
    everything = ["--valid-lang-pairs", "all", "--valid-bleu-lines", BLEU_LINES]
    return Run(
        folder, fairseq("train", *training_options(data, folder, "--cpu", "--max-epoch", 2, *everything))
    )


@pytest.fixture(scope="session")
def prefix_run(data, tmp_path_factory) -> Run:
    """A model whose source begins with both tags."""
    folder = tmp_path_factory.mktemp("s_enc_t_enc")
    tags = ["--language-tags", "s_enc_t_enc", "--decoder-language-embedding", "none"]
    return Run(folder, fairseq("train", *training_options(data, folder, "--cpu", "--max-epoch", 1, *tags)))
