"""What several tests share: small models, dictionaries and data made on the spot."""

import argparse
import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import zsnmt
from tests.support import warm
from tests.support.shared import shared

if TYPE_CHECKING:
    import torch
    from fairseq.data import Dictionary

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = ["piv", "aa", "bb", "cc"]
OLDER_RUN = Path("runs/tiny/zs_transformer_residual/seed1")  # in `older`


# A command that a test starts heeds signals also where the tests run in the background or under nohup: what
# is caught here is not ignored there.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="no slow tests, and three cases of each other one")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Load fairseq where tests run. A process that only deals them to others starts those at once: it needs
    nothing that takes seconds to load.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if session.config.pluginmanager.has_plugin("dsession"):
        return
    gc.disable()  # until all is loaded, of which nothing can be freed
    import fairseq.tasks  # noqa: F401
    import torch

    zsnmt.register()
    torch.set_num_threads(1)
    session.config.pluginmanager.import_plugin("tests.support.rounding")  # has fixtures


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Recipes come first and then other files with slow tests, so that no process is left alone with one
    at the end. Of those that use the run `tiny` one file comes first and the others after the other recipes,
    so that no process waits while another makes it. With --quick some are left out.
    """
    for item in items:
        if "tiny" in item.fixturenames:
            item.add_marker(pytest.mark.slow)
    if config.getoption("--quick"):
        kept = quick(items)
        config.hook.pytest_deselected(items=list({*items} - {*kept}))
        items[:] = kept
    gc.enable()
    gc.collect()
    gc.freeze()  # what is loaded now stays: no collection needs to go through it again
    gc.set_threshold(*warm.SELDOM)
    slow = {item.path for item in items if item.get_closest_marker("slow")}

    def place(item: pytest.Item) -> tuple[bool, bool]:
        return item.path not in slow, item.path.parent != ROOT / "tests"

    items.sort(key=place)
    waiting = [*dict.fromkeys(item.path for item in items if "tiny" in item.fixturenames)][1:]
    items.sort(key=lambda item: (*place(item), item.path in waiting))


def quick(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests that are not slow; of one with many cases the first, the middle one and the last."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not item.get_closest_marker("slow"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return [each[place] for each in cases.values() for place in sorted({0, len(each) // 2, len(each) - 1})]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Each test begins with one thread, whatever the one before it chose: on a busy machine those of several
    wait for each other.
    """
    import torch

    yield
    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


def make_dictionary(words: int = 23) -> "Dictionary":
    """A dictionary of language tags and words w0, w1, ..."""
    from fairseq.data import Dictionary

    dictionary = Dictionary()
    for language in LANGUAGES:
        dictionary.add_symbol(f"__{language}__")
    for number in range(words):
        dictionary.add_symbol(f"w{number}")
    return dictionary


class ToyTask:
    """As much of a task as a model reads."""

    def __init__(self) -> None:
        self.langs = LANGUAGES
        self.source_dictionary = self.target_dictionary = make_dictionary()


def toy_options(**options) -> argparse.Namespace:
    """Options of a small model; sizes all different, so that a swapped axis fails."""
    sizes = dict(
        encoder_embed_dim=8,
        encoder_ffn_embed_dim=20,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_layers=3,
        decoder_layers=2,
        max_source_positions=64,
        max_target_positions=64,
    )
    return argparse.Namespace(**{**sizes, **options})


@pytest.fixture
def toy_task() -> ToyTask:
    return ToyTask()


@pytest.fixture
def source_batch() -> "torch.Tensor":
    """Three sources of 5, 3 and 4 tokens with EOS (B=3, T=5), padded on the left."""
    import torch

    pad, eos = 1, 2
    return torch.tensor([[8, 9, 10, 11, eos], [pad, pad, 12, 13, eos], [pad, 14, 15, 9, eos]])


@pytest.fixture
def target_batch() -> "torch.Tensor":
    """Decoder inputs that begin with the tags of aa, bb and cc (B=3, T=4), padded on the right."""
    import torch

    pad = 1
    return torch.tensor([[5, 8, 9, 10], [6, 11, 12, pad], [7, 13, 14, 15]])


TINY_CONFIG = """\
SYNTHETIC="--number 3 --concepts 40 --pairs 60 --valid 6 --test 11 --longest 6"
LANGUAGES="inglan velan tamun velor"
VOCABULARY=160
IDENTIFIER=lexicon
AVERAGE=2
BEAM=2
MODEL="--encoder-layers 3 --decoder-layers 1 --encoder-embed-dim 16 --decoder-embed-dim 16
  --encoder-ffn-embed-dim 24 --decoder-ffn-embed-dim 24
  --encoder-attention-heads 2 --decoder-attention-heads 2 --max-source-positions 40"
TRAINING="--optimizer adam --lr 5e-3 --criterion label_smoothed_cross_entropy --max-tokens 400 --max-epoch 2"
"""


def changed(config: str, **settings: str) -> str:
    """The text of a config in which some keys have other values; those that it lacks come last."""
    for key, value in settings.items():
        line = f'{key}="{value}"\n'
        config, found = re.subn(rf'^{key}=("[^"]*"|\S*).*\n', lambda match: line, config, flags=re.MULTILINE)
        config += "" if found else line
    return config


def run_command(*command, runs=None, fresh: bool = False, **options) -> subprocess.CompletedProcess:
    """Run a command of the project as a person would, from the top of the checkout.

    Its Python has fairseq loaded already, unless it is to be a `fresh` one.
    """
    venv = Path(sys.prefix) if fresh else warm.environment()
    environment = {**os.environ, "VENV": str(venv), "OMP_NUM_THREADS": "1", "RUNS": str(runs)}
    python = venv / "bin" / "python"
    if str(command[0]).endswith(".py"):
        command = (python, *command)
    elif command[0] == "python":
        command = (python, *command[1:])
    elif str(command[0]).endswith(".sh"):
        command = ("bash", *command)
    return subprocess.run(
        [*map(str, command)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        **options,
    )


@pytest.fixture
def warm_python(monkeypatch) -> None:
    """What starts Python by the name of this process's has one that has fairseq loaded already."""
    monkeypatch.setattr(sys, "executable", str(warm.environment() / "bin" / "python"))


@dataclass(frozen=True)
class Experiment:
    """A finished tiny experiment: folder, and what the recipe printed."""

    config: Path
    folder: Path
    printed: subprocess.CompletedProcess

    @property
    def runs(self) -> Path:
        return self.folder.parent

    def run(self, system: str = "zs_transformer_residual") -> Path:
        return self.folder / system / "seed1"


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> Iterator[Experiment]:
    """The demo, start to end, with a config that trains for seconds; a test that changes it takes a copy."""
    with shared(tmp_path_factory, "tiny", make_tiny) as base:
        done = json.loads((base / "printed.json").read_text(encoding="utf-8"))
        yield Experiment(base / "tiny.conf", base / "runs" / "tiny", subprocess.CompletedProcess(**done))


def make_tiny(base: Path) -> None:
    config = base / "tiny.conf"
    config.write_text(TINY_CONFIG)
    printed = run_command("recipes/demo.sh", config, "--no-student", runs=base / "runs", fresh=True)
    assert printed.returncode == 0, printed.stderr
    (base / "printed.json").write_text(
        json.dumps({**vars(printed), "args": [*map(str, printed.args)]}), encoding="utf-8"
    )


@pytest.fixture(scope="session")
def older(tmp_path_factory) -> Path:
    """What version 0.1 wrote (commit 43442fd), in a folder where it was not made; no test changes it.

    A whole experiment: invented languages, a tiny residual model of 60 epochs with its checkpoint to go on
    from, its scores and translations, and its exports in float32 and int8.
    """
    folder = tmp_path_factory.mktemp("older")
    with tarfile.open(ROOT / "tests/support/older/runs_of_0.1.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def own_tiny(tiny, tmp_path) -> Experiment:
    """A copy of the demo that a test may change, as it were if it had been made there."""
    here, there = bytes(tiny.runs), bytes(tmp_path / "runs")
    folder = shutil.copytree(tiny.runs, tmp_path / "runs") / tiny.folder.name
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".pt" and here in (content := path.read_bytes()):
            status = path.stat()
            path.write_bytes(content.replace(here, there))
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return Experiment(tiny.config, folder, tiny.printed)
