"""A tiny corpus, fairseq's own commands, and models that they trained: what the tests of tasks share."""

import contextlib
import importlib
import io
import json
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator
from unittest import mock

import pytest
from fairseq import checkpoint_utils

from zsnmt.binarised import SubwordSettings, prepare
from zsnmt.corpora.synthetic import SyntheticCorpus, standard_languages, write_corpus

ROOT = Path(__file__).parents[2]
PLUGIN = ["--user-dir", str(ROOT / "zsnmt"), "--task", "zs_translation", "--cpu"]
PAIRS, VALID, TEST = 61, 11, 13  # no multiple of 8, the default of --required-batch-size-multiple
PIVOT, FIRST, SECOND = LANGUAGES = ["inglan", "velan", "tamun"]
SUPERVISED = [f"{FIRST}-{PIVOT}", f"{PIVOT}-{FIRST}", f"{SECOND}-{PIVOT}", f"{PIVOT}-{SECOND}"]
ZERO_SHOT = [f"{FIRST}-{SECOND}", f"{SECOND}-{FIRST}"]
TINY = (
    "--encoder-embed-dim 16 --decoder-embed-dim 16 --encoder-ffn-embed-dim 24 --decoder-ffn-embed-dim 24 "
    "--encoder-attention-heads 2 --decoder-attention-heads 2 --encoder-layers 2 --decoder-layers 2"
).split()
TRAINING = (
    "--criterion label_smoothed_cross_entropy --label-smoothing 0.1 --optimizer adam --lr 0.005 "
    "--max-tokens 600 --seed 3 --log-format json --log-interval 1 --num-workers 0"
).split()


@dataclass
class Output:
    """What a command printed, and the figures that it logged by tag: `train_inner`, `train`, `valid`."""

    text: str
    logged: dict[str, list[dict]]

    def lines(self, kind: str) -> dict[int, str]:
        """The last column of the lines `kind-NUMBER` of fairseq-generate and -interactive, by number."""
        rows = [line.split("\t") for line in self.text.splitlines() if line.startswith(f"{kind}-")]
        return {int(row[0].split("-")[1]): row[-1] for row in rows}

    def figures(self, tag: str, name: str) -> list[float]:
        """A logged figure over time."""
        return [float(figures[name]) for figures in self.logged.get(tag, []) if name in figures]


class Figures(logging.Handler):
    """Keeps what progress bars log as JSON, by their tag."""

    def __init__(self) -> None:
        super().__init__()
        self.logged: dict[str, list[dict]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(ValueError):
            self.logged.setdefault(record.name, []).append(json.loads(record.getMessage()))


@contextlib.contextmanager
def as_a_process_of_its_own() -> Iterator[tuple[io.StringIO, Figures]]:
    """What a command prints and logs, and none of what it leaves behind in the process."""
    root, fairseq, printed, figures = logging.getLogger(), logging.getLogger("fairseq"), io.StringIO(), Figures()
    handlers, level = list(root.handlers), fairseq.level
    fairseq.addHandler(figures)
    fairseq.setLevel(logging.INFO)
    try:
        with contextlib.redirect_stdout(printed):
            yield printed, figures
    finally:
        fairseq.removeHandler(figures)
        fairseq.setLevel(level)
        root.handlers[:] = handlers
        from fairseq_cli import train

        for function in (checkpoint_utils.save_checkpoint, train.should_stop_early):
            vars(function).clear()  # the best score so far


def fairseq(tool: str, *arguments: object) -> Output:
    """Call a command of fairseq as the shell would, but in this process."""
    command = [f"fairseq-{tool}", *map(str, arguments)]
    with as_a_process_of_its_own() as (printed, figures), mock.patch.object(sys, "argv", command):
        importlib.import_module(f"fairseq_cli.{tool}").cli_main()
    return Output(printed.getvalue(), figures.logged)


def train(data: Path, run: Path, *arguments: object, task: list[str] = PLUGIN) -> Output:
    """Train a tiny model; the arguments come last, so that they win."""
    arch = ["--arch", "zs_transformer_residual"]
    return fairseq("train", data, *task, *arch, *TINY, *TRAINING, "--save-dir", run, *arguments)


@pytest.fixture(scope="session")
def text(tmp_path_factory) -> Path:
    """Parallel text of a pivot and two other languages; validation and test sets are multiway."""
    folder = tmp_path_factory.mktemp("corpus") / "text"
    corpus = SyntheticCorpus(standard_languages(2), concepts=60, pairs=PAIRS, valid=VALID, test=TEST, longest=8)
    write_corpus(corpus, folder)
    return folder


@pytest.fixture(scope="session")
def data(text) -> Path:
    """The same, binarised."""
    folder = text.with_name("data")
    prepare(text, folder, LANGUAGES, SubwordSettings(150))
    return folder
